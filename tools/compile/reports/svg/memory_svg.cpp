// Draws one diagram per arena, below each other; see the header.
#include "tools/compile/reports/svg/memory_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/count_text.h"
#include "tools/compile/reports/svg/svg_text.h"

namespace scopevm::tool {
namespace {

using Function = MemoryExplanation::Function;
using Arena = MemoryExplanation::Arena;
using Buffer = MemoryExplanation::Buffer;
using runtime::count_text;

constexpr double kWidth = 1100, kHeight = 420;  // of the area of rectangles
constexpr double kLeft = 90, kTop = 60, kRight = 30, kBottom = 50;
constexpr const char* kValueColour = kColours[0];
constexpr const char* kLiveColour = kColours[1];
constexpr const char* kScratchColour = kColours[4];

// The distance of ticks: a power of `base` times 1, 2 or 5 (base 10) or a power of 2, so that there
// are at most eight.
int64_t tick_distance(int64_t length, bool is_binary) {
  constexpr int64_t kMostTicks = 8;
  constexpr int64_t kDecimal[] = {2, 5, 10};
  int64_t unit = 1, distance = 1;
  for (size_t i = 0; length / distance > kMostTicks; ++i) {
    if (is_binary) {
      distance *= 2;
    } else {
      distance = unit * kDecimal[i % 3];
      if (i % 3 == 2) unit *= 10;
    }
  }
  return distance;
}

std::string bytes_label(int64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:g} {}", value, kUnits[unit]);
}

// The diagram of one arena.
class Diagram {
 public:
  Diagram(const Function& function, const Arena& arena, double top)
      : function_(function),
        arena_(arena),
        top_(top + kTop),
        steps_(std::max<int64_t>(static_cast<int64_t>(function.steps.size()), 1)),
        bytes_(std::max<int64_t>(arena.bytes, 1)) {}

  static constexpr double height() { return kTop + kHeight + kBottom; }

  std::string run() {
    text(kLeft, top_ - 36, "start", title(), 14);
    text(kLeft, top_ - 18, "start", "peak: " + step_text(arena_.peak.step), 11);
    axes();
    for (size_t i = 0; i < arena_.buffers.size(); ++i) draw(arena_.buffers[i], is_live(i));
    // The column of the peak.
    out_ += fmt::format(
        "<rect class=\"peak\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"none\" stroke=\"#c00\" stroke-width=\"1.5\"><title>peak: {}</title></rect>\n",
        x_of(arena_.peak.step), top_, std::max(kWidth / static_cast<double>(steps_), 1.0), kHeight,
        xml_escaped(step_text(arena_.peak.step)));
    line(arena_.lower_bound_bytes, "lower-bound",
         "lower bound " + count_text(arena_.lower_bound_bytes, "byte"));
    return std::move(out_);
  }

 private:
  double x_of(int64_t step) const {
    return kLeft + kWidth * static_cast<double>(step) / static_cast<double>(steps_);
  }
  double y_of(int64_t address) const {
    return top_ + kHeight * (1 - static_cast<double>(address) / static_cast<double>(bytes_));
  }
  bool is_live(size_t buffer) const {
    return std::ranges::find(arena_.live, static_cast<int64_t>(buffer),
                             &MemoryExplanation::LiveBuffer::buffer) != arena_.live.end();
  }

  std::string title() const {
    return fmt::format("{}: {}{}, {} planned, {} live at the peak", function_.name, arena_.pool,
                       arena_.segment > 0 ? fmt::format(", segment {}", arena_.segment) : "",
                       count_text(arena_.bytes, "byte"),
                       count_text(arena_.lower_bound_bytes, "byte"));
  }

  std::string step_text(int64_t step) const {
    const MemoryExplanation::Step& s = function_.steps[step];
    return fmt::format("step {}, {} {}", step, s.op, s.name);
  }

  void text(double x, double y, const char* anchor, const std::string& content, int size) {
    out_ += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\" font-size=\"{}\">{}</text>\n", x, y,
        anchor, size, xml_escaped(content));
  }

  void axes() {
    out_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" "
        "stroke=\"#333\"/>\n",
        kLeft, top_, kWidth, kHeight);
    const int64_t every = tick_distance(steps_, /*is_binary=*/false);
    for (int64_t step = 0; step <= steps_; step += every) {
      tick(x_of(step), top_ + kHeight, 0, 5);
      text(x_of(step), top_ + kHeight + 17, "middle", std::to_string(step), 11);
    }
    text(kLeft + kWidth / 2, top_ + kHeight + 34, "middle", "step", 11);
    const int64_t bytes = tick_distance(bytes_, /*is_binary=*/true);
    for (int64_t address = 0; address <= bytes_; address += bytes) {
      tick(kLeft, y_of(address), -5, 0);
      text(kLeft - 8, y_of(address) + 4, "end", bytes_label(address), 11);
    }
  }

  void tick(double x, double y, double dx, double dy) {
    out_ += fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"#333\"/>\n", x, y,
        x + dx, y + dy);
  }

  void line(int64_t address, const char* name, const std::string& title) {
    out_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" "
        "stroke=\"#c00\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"><title>{}</title></line>\n",
        name, kLeft, y_of(address), kLeft + kWidth, y_of(address), title);
  }

  void draw(const Buffer& buffer, bool is_live) {
    if (buffer.bytes == 0) return;
    const double x = x_of(buffer.first_step), width = x_of(buffer.last_step + 1) - x;
    const double y = y_of(buffer.offset + buffer.bytes), height = y_of(buffer.offset) - y;
    const std::string name = (buffer.is_scratch ? "scratch memory of " : "") + buffer.name;
    out_ += fmt::format(
        "<g><title>{}: {} at {}, steps {} to {}, made by {}</title>"
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
        "fill-opacity=\"0.8\" stroke=\"#333\" stroke-width=\"0.5\"/>",
        xml_escaped(name), count_text(buffer.bytes, "byte"), buffer.offset, buffer.first_step,
        buffer.last_step, xml_escaped(step_text(buffer.first_step)), x, y, width, height,
        buffer.is_scratch ? kScratchColour
        : is_live         ? kLiveColour
                          : kValueColour);
    constexpr double kCharacter = 6, kLine = 12;
    const double characters = width / kCharacter - 4;  // without the dots of a name that is cut
    if (height >= kLine && characters >= 1)
      out_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" font-size=\"10\">{}</text>", x + 3,
                          y + kLine - 2,
                          xml_escaped(label(buffer.name, static_cast<size_t>(characters))));
    out_ += "</g>\n";
  }

  const Function& function_;
  const Arena& arena_;
  const double top_;
  const int64_t steps_;
  const int64_t bytes_;
  std::string out_;
};

std::string legend() {
  constexpr std::pair<const char*, const char*> kEntries[] = {{kLiveColour, "live at the peak"},
                                                              {kValueColour, "other buffers"},
                                                              {kScratchColour, "scratch memory"}};
  std::string out;
  double x = kLeft;
  for (const auto& [colour, text] : kEntries) {
    out += fmt::format(
        "<rect x=\"{0:.0f}\" y=\"12\" width=\"14\" height=\"14\" fill=\"{1}\" stroke=\"#333\"/>"
        "<text x=\"{2:.0f}\" y=\"23\" font-size=\"11\">{3}</text>\n",
        x, colour, x + 20, text);
    x += 150;
  }
  return out + fmt::format(
                   "<line x1=\"{0:.0f}\" y1=\"19\" x2=\"{1:.0f}\" y2=\"19\" stroke=\"#c00\" "
                   "stroke-dasharray=\"6 4\"/><text x=\"{2:.0f}\" y=\"23\" font-size=\"11\">lower "
                   "bound</text>\n",
                   x, x + 24, x + 30);
}

}  // namespace

std::string memory_svg(const MemoryExplanation& explanation) {
  constexpr double kLegend = 30;
  std::string diagrams;
  double height = kLegend;
  for (const Function& function : explanation.functions)
    for (const Arena& arena : function.arenas) {
      if (arena.bytes == 0) continue;
      diagrams += Diagram(function, arena, height).run();
      height += Diagram::height();
    }
  const double width = kLeft + kWidth + kRight;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
             "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n"
             "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
             width, height) +
         legend() + diagrams + "</svg>\n";
}

}  // namespace scopevm::tool

// Memory plans in CSV form.
#include <gtest/gtest.h>

#include "compiler/memory/plan.h"

namespace scopevm::compiler::memory {
namespace {

TEST(PlanCsv, RoundTripsWithAndWithoutOffsets) {
  for (const char* text : {"id,lower,upper,size\n0,0,2,64\n1,1,5,128\n",
                           "id,lower,upper,size,offset\n0,0,2,64,128\n1,1,5,128,0\n"}) {
    Result<std::vector<PlannedBuffer>> buffers = parse_csv(text);
    ASSERT_TRUE(buffers.ok()) << buffers.status().message();
    EXPECT_EQ(to_csv(*buffers), text);
  }
}

// Published instances can have ids that are not numbers, an alignment column and CRLF line ends.
TEST(PlanCsv, ReadsPublicInstances) {
  Result<std::vector<PlannedBuffer>> buffers =
      parse_csv("id,lower,upper,size,alignment\r\nb7,3,9,4,1\r\nb8,4,5,12,1\r\n");
  ASSERT_TRUE(buffers.ok()) << buffers.status().message();
  ASSERT_EQ(buffers->size(), 2u);
  EXPECT_EQ((*buffers)[1].lower, 4);
  EXPECT_EQ((*buffers)[1].size, 12);
}

TEST(PlanCsv, ReadsNumericIdsOfEitherColumn) {
  for (const char* text : {"id,lower,upper,size\n7,3,9,4\n", "buffer,start,end,size\n7,3,9,4\n"}) {
    Result<std::vector<PlannedBuffer>> buffers = parse_csv(text);
    ASSERT_TRUE(buffers.ok()) << buffers.status().message();
    EXPECT_EQ(buffers->front().id, 7);
  }
}

TEST(PlanCsv, ErrorsNameTheLine) {
  auto message = [](const char* text) { return std::string(parse_csv(text).status().message()); };
  EXPECT_EQ(message("id,lower,upper,size\n0,0,2,many\n"), "line 2: \"many\" is not a number");
  EXPECT_EQ(message("id,lower,upper,size\n0,0,2,64\n1,2,2,64\n"),
            "line 3: expected lower < upper and size >= 0");
  EXPECT_EQ(message("id,lower,upper,size\n0,0,2,-64\n"),
            "line 2: expected lower < upper and size >= 0");
  EXPECT_EQ(message("id,lower,upper,size\n0,0\n"), "line 2: \"\" is not a number");
  EXPECT_EQ(message("id,lower,size\n0,0,64\n"), "line 1: missing column \"upper\"");
  EXPECT_EQ(message("\n\r\nid,lower,size\n0,0,64\n"), "line 3: missing column \"upper\"");
  EXPECT_EQ(message(""), "missing header line");
}

}  // namespace
}  // namespace scopevm::compiler::memory

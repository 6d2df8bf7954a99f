// The depth-first search of the exact solver. It extends MiniMalloc (Moffitt, "MiniMalloc: A
// Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023).
//
// Items are placed upwards: each clique has a floor, below which no item will be placed any more.
// A node of the tree selects a clique whose floor is a local minimum, and an item whose least
// offset is that floor. The left branch places the item there; the right branch excludes that
// offset. The branches partition the plans, so no plan is reached twice.
//   exact_state.cpp   floors, least offsets and their propagation
//   exact_search.cpp  the tree
//   exact.cpp         restarts with other priorities
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "runtime/plan/deadline.h"
#include "runtime/plan/instance.h"
#include "runtime/plan/search/exact_cliques.h"

namespace scopevm::plan {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
// The most Cliques::entries() of an instance that is searched: 256 MiB in SearchState. A search
// does not finish on larger instances.
inline constexpr int64_t kMostEntries = 16'000'000;

// The placed items and what follows from them for the others. Changes are undone in reverse order.
class SearchState {
 public:
  // REQUIRES: `instance` and `cliques` outlive the state.
  SearchState(const Instance& instance, const Cliques& cliques);

 protected:
  struct Clique {
    int64_t floor = 0;       // no unplaced item has a smaller offset
    int64_t slack = 0;       // capacity - floor - the sum of the sizes of the unplaced items
    int64_t lowest_end = 0;  // no unplaced item can end below it
    int32_t unplaced = 0;    // the number of unplaced items
    int32_t candidates = 0;  // the number of those with least offset `floor`
    int32_t required = 0;    // the number of those with a required offset
    bool is_queued = false;
  };
  struct Member {
    int32_t item = 0;
    int32_t entry = 0;
  };
  enum class Change : uint8_t { kLeast, kClique, kPlaced };
  struct Undo {
    Change change;
    int32_t index = 0;       // of an item or a clique
    int32_t candidates = 0;  // of a clique
    int64_t value = 0;       // the least offset of an item or the floor of a clique
    int64_t slack = 0;       // of a clique
    int64_t lowest_end = 0;  // of a clique
  };

  // Starts with no item placed. Returns false if the capacity is infeasible.
  bool reset(int64_t capacity);
  // Each returns false if no plan extends the state. The caller then undoes the changes.
  bool place(int32_t item);    // at its least offset
  bool exclude(int32_t item);  // from its least offset
  void undo(size_t mark);

  std::span<const Member> members(int32_t clique) const {
    return {members_.data() + first_member_[clique],
            static_cast<size_t>(cliques_[clique].unplaced)};
  }
  // Identifies the unplaced item and its least offset.
  uint64_t key_of(int32_t item) const;

  const Instance& instance_;
  const Cliques& ranges_;
  std::vector<Clique> cliques_;
  std::vector<int32_t> spanning_;  // by clique: unplaced items live before and after its end
  // By item: no smaller offset is possible. Of placed items: the offset.
  std::vector<int64_t> least_;
  std::vector<Undo> trail_;
  uint64_t hash_ = 0;  // of the keys of the unplaced items
  uint64_t work_ = 0;  // steps of loops, for checks of the deadline

 private:
  bool raise(int32_t item, int64_t offset);
  bool raise_over_required(int32_t clique);
  bool update(int32_t clique);
  bool propagate();
  void add(int32_t item);
  void remove_member(int32_t clique, int32_t entry);
  void unplace(int32_t item);
  bool can_block(int32_t item);
  void enqueue(int32_t clique);
  void save(int32_t clique);

  std::vector<int64_t> sizes_;         // by item; the loops over members use it often
  std::vector<Member> members_;        // by clique; the unplaced items come first
  std::vector<int32_t> first_member_;  // by clique
  std::vector<int32_t> position_;      // by entry: the index in the clique's members
  std::vector<int32_t> queue_;
  std::vector<int64_t> initial_slack_;  // by clique, at capacity 0
};

class ExactSearch : public SearchState {
 public:
  ExactSearch(const Instance& instance, const Cliques& cliques);

  // Places items about `most_placements` times. kTimeout: the placements or the time are used up.
  // The next call starts at the root again, but remembers states that are proved infeasible.
  SearchOutcome run(int64_t capacity, int64_t most_placements, const Deadline& deadline);

  std::vector<double> priorities;    // by item: candidates with high priority are tried first
  bool prefers_low_cliques = false;  // among cliques with several branches
  const std::vector<int64_t>& offsets() const { return least_; }  // after kFound

 private:
  // The search for the items between two cliques, after some items were placed.
  struct Node {
    int32_t begin = 0;
    int32_t end = 0;      // cliques
    int32_t next = 0;     // the first clique of the next independent part after `item` was placed
    int32_t item = -1;    // the item that was placed last
    size_t start = 0;     // the length of the trail
    size_t mark = 0;      // the length of the trail before `item` was placed
    uint64_t others = 0;  // the hash of the unplaced items that are not in the part
    uint64_t hash = 0;    // of the items in the part
  };
  struct Failure {
    uint64_t hash = 0;
    int64_t capacity = 0;
  };
  enum class Step : uint8_t { kDescend, kFound, kFail };

  SearchOutcome search(int64_t most_placements, const Deadline& deadline);
  Step branch(Node& node);
  Step exclude_item(Node& node);
  Step next_part(Node& node);
  int32_t select_clique(const Node& node);
  int64_t floor_of(int32_t clique) const;
  int64_t lowest_floor(const Node& node) const;
  int32_t select_item(int32_t clique) const;
  uint64_t hash_of(int32_t begin, int32_t end);
  bool is_failed(const Node& node) const;
  void record_failure(const Node& node);

  std::vector<Node> nodes_;
  std::vector<Failure> failures_;
  int64_t search_capacity_ = 0;
  int64_t placements_ = 0;
};

}  // namespace scopevm::plan

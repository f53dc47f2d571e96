// Ctrl-C in a long kernel. bind/module.cpp installs the hook; the core knows nothing of Python.
#pragma once

#include <cstdint>

namespace toprank {

struct Interrupted {};

using InterruptHook = bool (*)();
inline InterruptHook interrupt_hook = nullptr;

// Asks the hook once every few million entries of work: well within a second.
class Poll {
 public:
  void operator()(std::int64_t entries) {
    since_ += entries;
    if (since_ < kEvery) return;
    since_ = 0;
    if (interrupt_hook != nullptr && interrupt_hook()) throw Interrupted{};
  }

 private:
  static constexpr std::int64_t kEvery = 16'000'000;
  std::int64_t since_ = 0;
};

}  // namespace toprank

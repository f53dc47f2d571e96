#include "support/threads.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace toprank {

void run_tasks(std::int64_t n_tasks, int n_threads, void (*work)(const void* task, std::int64_t k),
               const void* task) {
  const auto workers = std::min<std::int64_t>(n_threads, n_tasks) - 1;
  if (workers <= 0) {
    for (std::int64_t k = 0; k < n_tasks; ++k) work(task, k);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::atomic_flag failed = ATOMIC_FLAG_INIT;
  std::exception_ptr failure;  // an exception that left a thread would end the process
  auto drain = [&] {
    try {
      for (std::int64_t k; (k = next.fetch_add(1)) < n_tasks;) work(task, k);
    } catch (...) {
      next = n_tasks;
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  };
  std::vector<std::thread> team;  // no jthread: Apple's library lacks it
  team.reserve(static_cast<std::size_t>(workers));
  try {
    for (std::int64_t k = 0; k < workers; ++k) team.emplace_back(drain);
  } catch (const std::system_error&) {  // as many as the system gives
  }
  drain();  // it catches all, so that the others are always waited for
  for (auto& one : team) one.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace toprank

// Fork-join over a fixed list of tasks.
//
// The tasks never depend on the number of threads: a caller cuts its work into blocks by the
// shape of the data alone, and reduces them in block order, so one thread and eight give the
// same bits. Threads are started per call: a pool would not survive fork() (joblib, Dask).
#pragma once

#include <cstdint>

namespace toprank {

// Work from which threads are started, in entries of a dense product (0.13 ns each in cache). A
// second thread takes about 20 us of CPU to start and join, and begins some 100 us late. Measured
// with two idle cores, wall time of two threads over that of one: scores of dense rows 2.2 at 0.1e6
// entries, 1.3 at 0.5e6, 1.1 at 2e6, 0.9 at 4e6; of sparse rows 1.0 at 1e6, 0.65 at 2e6.
inline constexpr std::int64_t kThreadedEntries = 2'000'000;
// The loss of a row takes 0.6 to 4 ns, as long as at least so many entries.
inline constexpr std::int64_t kEntriesOfRowLoss = 5;

inline int useful_threads(std::int64_t entries, int n_threads) {
  return entries < kThreadedEntries ? 1 : n_threads;
}

// Calls work(task, k) for every k < n_tasks.
void run_tasks(std::int64_t n_tasks, int n_threads, void (*work)(const void* task, std::int64_t k),
               const void* task);

// Tasks are long, so a call through a pointer costs nothing; the threads are compiled once.
template <class Task>
void parallel_for(std::int64_t n_tasks, int n_threads, const Task& task) {
  run_tasks(
      n_tasks, n_threads,
      [](const void* of, std::int64_t k) { (*static_cast<const Task*>(of))(k); }, &task);
}

}  // namespace toprank

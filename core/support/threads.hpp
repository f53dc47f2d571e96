// Fork-join over a fixed list of tasks.
//
// The tasks never depend on the number of threads: a caller cuts its work into blocks by the
// shape of the data alone, and reduces them in block order, so one thread and eight give the
// same bits. Threads are started per call: a pool would not survive fork() (joblib, Dask).
#pragma once

#include <cstdint>

namespace toprank {

// Below this many entries starting a thread costs more than it saves.
inline constexpr std::int64_t kSerialEntries = 100'000;

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

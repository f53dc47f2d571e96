#include "text/svmlight.hpp"

#include <algorithm>
#include <cstring>

#include "support/interrupt.hpp"
#include "text/number.hpp"

namespace toprank {
namespace {

// Of a word that is cited.
constexpr std::int64_t kLongestWord = 40;

// What bytes.split() parts words by, but the line end.
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string word_at(const char* at, const char* end) {
  std::string word;
  for (; at < end && !is_space(*at) && static_cast<std::int64_t>(word.size()) < kLongestWord; ++at)
    word += *at >= ' ' && *at <= '~' ? *at : '?';
  return "'" + word + "'";
}

class Reader {
 public:
  Reader(std::int64_t first, std::int64_t limit, const TextRows& out)
      : first_(first), limit_(limit), out_(out) {
    out_.pointers[0] = 0;
  }

  TextRead read(const char* text, std::int64_t length) {
    const char* const end = text + length;
    Poll poll;
    while (text < end) {
      const auto* stop = static_cast<const char*>(std::memchr(text, '\n', static_cast<std::size_t>(end - text)));
      if (stop == nullptr) stop = end;
      line(text, stop);
      ++read_.lines;
      poll(stop - text + 1);
      text = stop + 1;
    }
    read_.least = read_.entries > 0 ? least_ : -1;
    read_.largest = largest_;
    return read_;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw BadLine(read_.lines, what); }

  void line(const char* at, const char* end) {
    if (const void* hash = std::memchr(at, '#', static_cast<std::size_t>(end - at)))
      end = static_cast<const char*>(hash);
    while (at < end && is_space(*at)) ++at;
    if (at == end) return;
    const char* word = at;
    if (!read_double(at, end, out_.labels[read_.rows]) || (at < end && !is_space(*at)))
      refuse("the label " + word_at(word, end) + " is no number");
    while (at < end && is_space(*at)) ++at;
    if (end - at >= 4 && std::memcmp(at, "qid:", 4) == 0) {
      while (at < end && !is_space(*at)) ++at;
    }
    entries(at, end);
    out_.pointers[++read_.rows] = read_.entries;
  }

  void entries(const char* at, const char* end) {
    std::int64_t before = first_ - 1;
    while (true) {
      while (at < end && is_space(*at)) ++at;
      if (at == end) break;
      const char* word = at;
      std::int64_t index = 0;
      double value = 0.0;
      if (!read_whole(at, end, index) || at == end || *at != ':')
        refuse(word_at(word, end) + " is no entry, such as 3:0.5");
      ++at;
      if (!read_double(at, end, value) || (at < end && !is_space(*at)))
        refuse("the value of " + word_at(word, end) + " is no number");
      if (index <= before) out_of_order(index, before, word, end);
      if (index >= limit_)
        refuse("the index of " + word_at(word, end) + " is above " + std::to_string(limit_ - 1) +
               ", the last one");
      if (before < first_) least_ = std::min(least_, index);
      out_.indices[read_.entries] = index - first_;
      out_.values[read_.entries++] = value;
      before = index;
    }
    largest_ = std::max(largest_, before < first_ ? -1 : before);
  }

  [[noreturn]] void out_of_order(std::int64_t index, std::int64_t before, const char* word,
                                 const char* end) const {
    if (index < first_)
      refuse("the index of " + word_at(word, end) + " is below " + std::to_string(first_) +
             ", the first one");
    refuse(word_at(word, end) + " comes after index " + std::to_string(before) +
           ": indices rise within a line");
  }

  std::int64_t first_, limit_;
  TextRows out_;
  TextRead read_;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t largest_ = -1;
};

}  // namespace

TextSize most_of(const char* text, std::int64_t length) {
  return {std::count(text, text + length, '\n') + 1, std::count(text, text + length, ':')};
}

TextRead read_svmlight(const char* text, std::int64_t length, std::int64_t first,
                       std::int64_t limit, const TextRows& out) {
  return Reader(first, limit, out).read(text, length);
}

}  // namespace toprank

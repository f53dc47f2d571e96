// A convex quadratic of few unknowns in a box:
//   min over c, low <= c <= high,   1/2 (c - c0)'G (c - c0) - r'(c - c0)
#pragma once

namespace toprank {

struct BoxQuadratic {
  static constexpr int kMost = 32;

  int n = 0;
  double gram[kMost][kMost];  // G; its diagonal is positive
  double pull[kMost];         // r, kept what it is at c
  double at[kMost];           // c0, and then c
  double low[kMost], high[kMost];

  // Goes on until what pulls an unknown that is free to go is little beside what did at first.
  void solve();

 private:
  bool may_go(int k) const {
    return (pull[k] > 0 && at[k] < high[k]) || (pull[k] < 0 && at[k] > low[k]);
  }
  double strongest() const;
  void coordinate_steps();
  // Newton's step of the unknowns that may go, clipped to the box, as far as it descends.
  void newton_step();

  double factor_[kMost][kMost];
};

}  // namespace toprank

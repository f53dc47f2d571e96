// What each file of the bindings adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace toprank {

// CombinedDescent: stochastic steps on pairs and points.
void bind_crr(nanobind::module_& module);

// ActiveSet, DualDescent, project_balanced: the pushes to the top.
void bind_push(nanobind::module_& module);

}  // namespace toprank

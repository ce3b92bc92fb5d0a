#pragma once
#include <cusolverDn.h>

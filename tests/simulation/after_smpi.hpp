// smpicxx puts macros in front of every file that break C++ code which has functions of the same names.
#pragma once
#undef exit
#undef getopt
#undef getopt_long

// It makes macros of functions that malloc.h declares.
#pragma push_macro("malloc")
#pragma push_macro("calloc")
#pragma push_macro("realloc")
#pragma push_macro("free")
#undef malloc
#undef calloc
#undef realloc
#undef free
#include <malloc.h>
#pragma pop_macro("malloc")
#pragma pop_macro("calloc")
#pragma pop_macro("realloc")
#pragma pop_macro("free")

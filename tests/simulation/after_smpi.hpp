// smpicxx puts macros in front of every file that break C++ code which has functions of the same names.
#pragma once
#undef exit
#undef getopt
#undef getopt_long

// Model and selector, used from outside.
#include <cstdio>

#include <commpass/predict.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto profile = commpass::read_profile(argv[1]);
  const auto pattern = commpass::generate_pattern("random:ranks=64,bytes=64,degree=16");
  const auto ranking = commpass::predict(pattern, "8x8", profile.machine);
  std::printf("%s", ranking.front().explanation.c_str());
}

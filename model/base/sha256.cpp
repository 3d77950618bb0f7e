#include "model/base/sha256.hpp"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstdint>

#include "model/base/format.hpp"

namespace commpass {

namespace {

constexpr std::size_t block_bytes = 64, rounds = 64;

// FIPS 180-4, §4.2.2 and §5.3.3: fractional parts of the cube and square roots of the first primes.
constexpr std::array<std::uint32_t, rounds> constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
using State = std::array<std::uint32_t, 8>;
constexpr State initial{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// The message with a one bit, zeros, and its length in bits behind it (§5.1.1).
std::string padded(std::string_view text) {
  std::string result(text);
  result += '\x80';
  constexpr std::size_t length_bytes = 8;
  while (result.size() % block_bytes != block_bytes - length_bytes) result += '\0';
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  for (int shift = 56; shift >= 0; shift -= 8) result += static_cast<char>(bits >> shift & 0xff);
  return result;
}

/// One block of 64 bytes (§6.2.2).
void compress(State& state, std::string_view block) {
  std::array<std::uint32_t, rounds> w{};
  for (std::size_t i = 0; i < block_bytes; ++i) w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(block[i]);
  for (std::size_t t = 16; t < rounds; ++t) {
    const auto s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const auto s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < rounds; ++t) {
    const auto t1 =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[t] + w[t];
    const auto t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State added{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += added[i];
}

}  // namespace

std::string sha256(std::string_view text) {
  State state = initial;
  const auto message = padded(text);
  for (std::size_t begin = 0; begin < message.size(); begin += block_bytes)
    compress(state, std::string_view(message).substr(begin, block_bytes));
  std::string digest;
  for (const auto word : state) append(digest, "{:08x}", word);
  return digest;
}

}  // namespace commpass

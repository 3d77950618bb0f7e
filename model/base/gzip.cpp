#include "model/base/gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace commpass {

namespace {

/// Less than 128 KiB: glibc raises its thresholds, of all that a program allocates, when a larger block is freed.
constexpr uInt piece_bytes = 1U << 16;
constexpr int gzip_window = 16 + MAX_WBITS;  // 16: gzip's header, not zlib's

}  // namespace

void GzipReader::Close::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

GzipReader::GzipReader() : stream_(new z_stream{}) {
  if (inflateInit2(stream_.get(), gzip_window) != Z_OK) throw std::bad_alloc();
}

std::string GzipReader::unpack(std::string_view packed, const std::function<void(std::string_view)>& take) {
  std::string piece(piece_bytes, '\0');
  auto& stream = *stream_;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib reads it only
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.avail_out = piece_bytes;
  while (stream.avail_in > 0 || stream.avail_out == 0) {
    if (is_complete()) {
      if (*stream.next_in == 0) {
        at_ = At::padding;
        ++stream.next_in, --stream.avail_in;
        continue;
      }
      if (at_ == At::padding || *stream.next_in != static_cast<Bytef>(beginning.front()))
        return "bytes that are no gzip follow its end";
      inflateReset(&stream);
      at_ = At::member;
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece_bytes;
    const int code = inflate(&stream, Z_NO_FLUSH);
    take(std::string_view(piece).substr(0, piece_bytes - stream.avail_out));
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_STREAM_END) {
      at_ = At::end;
      stream.avail_out = piece_bytes;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {  // Z_BUF_ERROR: all that it had has been taken
      return stream.msg ? stream.msg : "no gzip";
    }
  }
  return {};
}

std::string gzipped(std::string_view contents) {
  z_stream stream{};
  constexpr int most_memory = 9;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, most_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closed_at_end(&stream, &deflateEnd);
  std::string result, piece(piece_bytes, '\0');
  int code = Z_OK;
  do {
    const auto taken = contents.substr(0, piece_bytes);
    contents.remove_prefix(taken.size());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(taken.data()));  // zlib reads it only
    stream.avail_in = static_cast<uInt>(taken.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream.avail_out = piece_bytes;
      code = deflate(&stream, contents.empty() ? Z_FINISH : Z_NO_FLUSH);
      result.append(piece, 0, piece_bytes - stream.avail_out);
    } while (stream.avail_out == 0);
  } while (code != Z_STREAM_END);
  return result;
}

}  // namespace commpass

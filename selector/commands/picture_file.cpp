#include "selector/commands/picture_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/file.hpp"
#include "model/base/text.hpp"
#include "selector/commands/needed_libraries.hpp"

extern "C" char** environ;

namespace commpass {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> picture_formats{"svg", "pdf", "png", "pgf"};

constexpr double pixels_per_inch = 96;
constexpr double text_pixels_per_inch = 108;  // with which texts of 12 pixels have 8 points
constexpr double points_per_inch = 72.27;     // of TeX
constexpr double png_dots_per_inch = 300;

std::string ending_of(const std::string& path) {
  const auto extension = fs::path(path).extension().string();
  return extension.empty() ? extension : extension.substr(1);
}

/// Inches of "3.5in", "89mm", "8.9cm" or "252pt".
std::optional<double> parse_inches(const std::string& text) {
  for (const auto& [unit, per_inch] :
       {std::pair("in", 1.0), {"mm", 25.4}, {"cm", 2.54}, {"pt", points_per_inch}, {"px", pixels_per_inch}})
    if (text.ends_with(unit))
      if (const auto number = parse_number<double>(std::string_view(text).substr(0, text.size() - 2)))
        return *number / per_inch;
  return std::nullopt;
}

/// The first of some programs that is in PATH.
std::optional<std::string> find_one_of(std::initializer_list<const char*> names) {
  for (const auto* name : names)
    if (auto program = find_program(name)) return program;
  return std::nullopt;
}

/// What draws SVG into PDF and PNG.
struct Converter {
  std::string program;
  bool is_browser;
};

/// @param has_bitmaps  whose pixels rsvg-convert blurs
std::optional<Converter> find_converter(bool has_bitmaps) {
  auto drawing = find_program("rsvg-convert"), browser = find_one_of({"chromium", "chromium-browser", "google-chrome"});
  if (browser && (has_bitmaps || !drawing)) return Converter{std::move(*browser), true};
  if (drawing) return Converter{std::move(*drawing), false};
  return std::nullopt;
}

/// Runs a program without a terminal. @return has it ended with 0 in time?
bool run_silently(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const auto& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int file : {STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, file, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int problem = posix_spawn(&child, list[0], &actions, nullptr, list.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return false;
  using namespace std::chrono_literals;
  const auto end = std::chrono::steady_clock::now() + 60s;  // a browser starts within seconds
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(10ms);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// A folder that goes with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    auto name = (fs::temp_directory_path() / "commpass-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw InputError(name, "no folder can be made there", "set TMPDIR to one that can be written");
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// @param width_in  inches of paper; nothing: pixels of a screen
std::string convert_picture(const Picture& picture, const std::string& format, std::optional<double> width_in,
                            const Converter& converter) {
  const ScratchFolder folder;
  const auto source = folder.path(converter.is_browser ? "picture.html" : "picture.svg"),
             made = folder.path("made." + format);
  const auto svg = svg_document(picture, width_in ? fmt::format("{:.4f}in", *width_in) : "", Paper::print);
  const double wide = width_in ? *width_in * pixels_per_inch : picture.width;
  const double high = wide * picture.height / picture.width;
  const double zoom = png_dots_per_inch / pixels_per_inch;
  std::vector<std::string> words{converter.program};
  if (converter.is_browser) {
    write_file(source,
               fmt::format("<!DOCTYPE html><meta charset=\"utf-8\"><style>@page{{size:{0:.2f}px {1:.2f}px;margin:0}}"
                           "body{{margin:0;height:{1:.2f}px;overflow:hidden}}svg{{display:block}}</style>{2}",
                           wide, high, svg));
    for (const auto* word :
         {"--headless", "--disable-gpu", "--hide-scrollbars", "--no-pdf-header-footer", "--print-to-pdf-no-header"})
      words.emplace_back(word);
    if (::geteuid() == 0) words.emplace_back("--no-sandbox");  // as root a browser has none
    words.push_back("--user-data-dir=" + folder.path("user"));
    if (format == "pdf") words.push_back("--print-to-pdf=" + made);
    else
      words.insert(words.end(), {"--screenshot=" + made, fmt::format("--force-device-scale-factor={}", zoom),
                                 fmt::format("--window-size={:.0f},{:.0f}", std::ceil(wide), std::ceil(high))});
    words.push_back("file://" + source);
  } else {
    write_file(source, svg);
    words.insert(words.end(), {"--format", format, "--output", made});
    if (format == "png") words.insert(words.end(), {"--zoom", fmt::format("{}", zoom)});
    words.push_back(source);
  }
  if (!run_silently(words) || !fs::exists(made))
    throw InputError("--format " + format,
                     fs::path(converter.program).filename().string() + " did not draw the picture",
                     "use svg, and convert it by another program");
  return read_file(made);
}

}  // namespace

void PictureFile::add_to(Command& command, const std::string& help) {
  command.add(
      {{"--svg", &path, help + ": FILE.svg, .pdf, .png, or .pgf for LaTeX; its numbers go to FILE.csv"},
       {"--format",
        &format,
        "svg, pdf, png or pgf (default: by the name of the file)",
        {.one_of = picture_formats, .needs = {"--svg"}}},
       {"--width",
        &width,
        "of the picture on paper, such as 3.5in, 89mm or 252pt; texts then have 8 points",
        {.checks = {{"",
                     [](const std::string& text) {
                       constexpr double least = 2, most = 40;
                       const auto inches = parse_inches(text);
                       return inches && *inches >= least && *inches <= most
                                  ? ""
                                  : fmt::format("'{}' is no width; use one from 2in to 40in, such as 3.5in or 89mm",
                                                text);
                     }}},
         .needs = {"--svg"}}},
       {"--no-title", &no_title, "without title and introduction, for a caption of your own", {.needs = {"--svg"}}}});
}

std::string PictureFile::file() const {
  return !path.empty() && ending_of(path).empty() && !format.empty() ? path + "." + format : path;
}

std::string PictureFile::numbers() const {
  return path.empty() ? path : fs::path(file()).replace_extension(".csv").string();
}

Frame PictureFile::frame(const std::string& id) const {
  return {id, width.empty() ? picture_width : *parse_inches(width) * text_pixels_per_inch, !no_title};
}

void PictureFile::check() const {
  if (path.empty()) return;
  const auto ending = ending_of(file());
  if (std::ranges::find(picture_formats, ending) == picture_formats.end())
    throw InputError("--svg " + path, "its name does not end in .svg, .pdf, .png or .pgf",
                     "name it for example picture.svg");
  if (!format.empty() && format != ending)
    throw InputError("--format " + format, path + " has another ending", "give --svg a name that ends in ." + format);
  if ((ending == "pdf" || ending == "png") && !find_converter(false))
    throw InputError("--svg " + path, "no program here makes " + ending + " of SVG",
                     "install rsvg-convert (Debian: librsvg2-bin) or chromium, or use svg");
  check_writable(file());
  check_writable(numbers());
}

void PictureFile::write(const Picture& picture) const {
  if (path.empty()) return;
  const auto ending = ending_of(file());
  const auto inches = width.empty() ? std::nullopt : parse_inches(width);
  std::string contents;
  if (ending == "svg") contents = svg_document(picture, width);
  else if (ending == "pgf")
    contents = pgf_document(picture, inches.value_or(picture.width / text_pixels_per_inch) * points_per_inch);
  else
    contents =
        convert_picture(picture, ending, inches, *find_converter(picture.body.find("<image") != std::string::npos));
  write_file(numbers(), picture.csv);
  write_file(file(), contents);
}

}  // namespace commpass

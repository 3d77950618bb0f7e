#!/usr/bin/env python3
"""Writes what standard.txt says of the MPI standard's ABI, in C and C++.

    write_abi.py mpi_names.h | abi_calls.cpp
"""
import os
import re
import sys


def read_sections():
    """@return (title, lines) of each section; a line is joined with those that are indented below it"""
    sections = []
    with open(os.path.join(os.path.dirname(__file__), "standard.txt"), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                sections.append((line[1:-1], []))
            elif line.startswith(" "):
                sections[-1][1][-1] += " " + line.strip()
            else:
                sections[-1][1].append(line)
    return sections


def read_values(kind):
    """@return (name without its prefix, value, type or use) of the sections of 'handles' or 'numbers'"""
    for title, lines in read_sections():
        if title.startswith(kind + " "):
            for line in lines:
                name, value = line.split()
                yield name, value, title.split()[1]


def with_large_counts(parameters):
    parameters = re.sub(r"\bint (\w*count)\b", r"MPI_Count \1", parameters)
    parameters = re.sub(r"\bint (\w*counts\[\])", r"MPI_Count \1", parameters)
    return re.sub(r"\bint (\w*displs\[\])", r"MPI_Aint \1", parameters)


def read_calls():
    """@return (name without its prefix, parameters, is it taken over?) of each function that returns an int"""
    for title, lines in read_sections():
        if title not in ("exchanges", "large", "taken", "called"):
            continue
        for line in lines:
            names, parameters = re.fullmatch(r"(.*) \((.*)\)", line).groups()
            for name in names.split():
                forms = [(name, parameters)]
                if title == "exchanges":
                    started = "I" + name[0].lower() + name[1:]
                    forms.append((started, parameters + ", MPI_Request* request"))
                    forms.append((name + "_init", parameters + ", MPI_Info info, MPI_Request* request"))
                for form, own in forms:
                    yield form, own, title != "called"
                    if title in ("exchanges", "large"):
                        yield form + "_c", with_large_counts(own), True


def arguments_of(parameters):
    return [] if parameters == "void" else re.findall(r"(\w+)(?:\[\])?(?:, |$)", parameters)


def write_names():
    lines = ["// Made by write_abi.py. Private to mpi.h."]
    for name, value, handle in read_values("handles"):
        lines.append(f"#define MPI_{name} (({handle}){value})")
    for name, value, _ in read_values("numbers"):
        lines.append(f"#define MPI_{name} {value if int(value) >= 0 else f'({value})'}")
    for prefix in ("MPI_", "PMPI_"):
        for name, parameters, _ in read_calls():
            lines.append(f"int {prefix}{name}({parameters});")
        lines.append(f"double {prefix}Wtime(void);")
    return lines


def write_calls():
    """Functions by which the library calls MPI's. They are its own, and MPI's are found when they are called first."""
    lines = ['// Made by write_abi.py.', '#include <mpi.h>', '', '#include "preload/abi/find_function.hpp"', '',
             '#define COMMPASS_CALL(name, result, parameters, arguments)                                \\',
             '  extern "C" [[gnu::visibility("hidden")]] result name parameters {                       \\',
             '    static const auto function =                                                          \\',
             '        reinterpret_cast<decltype(&name)>(commpass::find_function_or_end(#name)); /*NOLINT*/ \\',
             '    return function arguments;                                                            \\',
             '  }']
    calls = [(name, "int", parameters, is_taken) for name, parameters, is_taken in read_calls()]
    for name, result, parameters, is_taken in calls + [("Wtime", "double", "void", False)]:
        for prefix in ("PMPI_",) if is_taken else ("PMPI_", "MPI_"):
            arguments = ", ".join(arguments_of(parameters))
            lines.append(f"COMMPASS_CALL({prefix}{name}, {result}, ({parameters}), ({arguments}))")
    return lines


if __name__ == "__main__":
    writers = {"mpi_names.h": write_names, "abi_calls.cpp": write_calls}
    print("\n".join(writers[sys.argv[1]]()))

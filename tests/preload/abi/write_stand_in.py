#!/usr/bin/env python3
"""Writes a stand-in for an MPI library that has the ABI of the MPI standard, over MPICH.

    write_stand_in.py ABI_FOLDER names.c | abi_names.hpp | calls.cpp

names.c has the functions of MPI, which call those of PMPI in calls.cpp. abi_names.hpp has the ABI's names with the prefix
ABI_, beside MPICH's own.
"""
import os
import re
import sys

folder = sys.argv[1]
sys.path.insert(0, folder)
import write_abi  # noqa: E402


def renamed(text):
    return re.sub(r"\bMPI_", "ABI_", text)


def write_c_names():
    lines = ["#include <mpi.h>"]
    for name, parameters, _ in write_abi.read_calls():
        arguments = ", ".join(write_abi.arguments_of(parameters))
        lines.append(f"int MPI_{name}({parameters}) {{ return PMPI_{name}({arguments}); }}")
    return lines + ["double MPI_Wtime(void) { return PMPI_Wtime(); }"]


def write_abi_names():
    with open(os.path.join(folder, "mpi.h"), encoding="utf-8") as file:
        text = file.read().replace('#include "mpi_names.h"', "\n".join(
            line for line in write_abi.write_names() if line.startswith("#define")))
    lines = [renamed(text), "#define STAND_IN_HANDLES(ROW) \\"]
    lines += [f"  ROW({name}) \\" for name, _, _ in write_abi.read_values("handles")]
    for use in dict.fromkeys(use for _, _, use in write_abi.read_values("numbers")):
        lines += ["", f"#define STAND_IN_NUMBERS_OF_{use}(ROW) \\"]
        lines += [f"  ROW({name}) \\" for name, _, of in write_abi.read_values("numbers") if of == use]
    return lines + [""]


HANDLES = "Op Comm Group Win Session Info Errhandler Request Datatype".split()
NUMBERS = {"rank": "source dest root target_rank local_leader remote_leader rank_source rank_dest".split(),
           "tag": "tag sendtag recvtag".split(), "thread": ["required", "provided"], "combiner": ["combiner"],
           "split": ["split_type"], "error": ["errorcode"], "attribute": ["comm_keyval"], "topology": ["status"]}


def length_of(call, name, parameters):
    """The number of elements of an array of handles or statuses."""
    if re.search(r"\b(in)?count\b", parameters):
        return re.search(r"\b(in)?count\b", parameters)[0]
    if "eighbor" not in call:
        return "peers_of(comm)"
    return f"neighbors_of(comm, {'true' if name.startswith('send') else 'false'})"


def converted(call, kind, name, parameters):
    """@return the argument for MPICH"""
    handle = re.fullmatch(r"(const )?MPI_(\w+?)(\*|\[\])?", kind)
    is_kept = "false" if call.removesuffix("_c") in ("Alltoallw", "Neighbor_alltoallw", "Type_create_struct") else "true"
    if handle and handle[2] in HANDLES:
        if not handle[3]:
            return f"to_mpich({name})"
        if handle[1]:
            return f"Handles({name}, {length_of(call, name, parameters)}, {is_kept}).get()"
        length = "1" if handle[3] == "*" else length_of(call, name, parameters)
        return f"ChangedHandles({name}, {length}).get()"
    if handle and handle[2] == "Status":
        return f"Statuses({name}, {'1' if handle[3] == '*' else length_of(call, name, parameters)}).get()"
    if handle and handle[2].startswith("T_"):
        return f"reinterpret_cast<MPI_{handle[2]}{'*' if handle[3] else ''}>({name})"
    for use, names in NUMBERS.items():
        if name in names and kind == "int" and call != "Abort":
            return f"to_mpich(numbers_of_{use}(), {name})"
        if name in names and kind == "int*":
            return f"ChangedNumber(numbers_of_{use}(), {name}).get()"
    if re.search(r"(buf|buffer|origin_addr)$", name):
        return f"buffer_of({name})"
    return f"weights_of({name})" if name in ("sourceweights", "destweights") else name


def write_calls():
    lines = ['// Made by write_stand_in.py.', '#include "preload/abi/stand_in.hpp"', ""]
    by_hand = ("Abi_get_version", "Error_class", "Comm_create_keyval", "Op_create", "Comm_create_errhandler",
               "Request_get_status_all", "Request_get_status_any", "Request_get_status_some")
    for call, parameters, _ in write_abi.read_calls():
        if call in by_hand:
            continue
        kinds = [] if parameters == "void" else [
            re.fullmatch(r"(.*?)(\w+)(\[\])?", each) for each in parameters.split(", ")]
        arguments = ", ".join(
            converted(call, each[1].strip() + (each[3] or ""), each[2], parameters) for each in kinds)
        code = "code" if call.startswith("T_") else "to_abi_code(code)"
        lines += [f'extern "C" int abi_{call}({renamed(parameters)}) __asm__("PMPI_{call}");',
                  f"int abi_{call}({renamed(parameters)}) {{",
                  f"  static const auto mpich = find_mpich<decltype(&PMPI_{call})>(\"PMPI_{call}\");",
                  f"  const int code = mpich({arguments});",
                  f"  return {code};", "}"]
    return lines


writers = {"names.c": write_c_names, "abi_names.hpp": write_abi_names, "calls.cpp": write_calls}
print("\n".join(writers[sys.argv[2]]()))

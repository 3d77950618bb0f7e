# Can the package for Python be built? Sets COMMPASS_PYTHON to the answer, and COMMPASS_PYTHON_MPI to the vendor that
# mpi4py names, if it is there and was built for this MPI library.
option(COMMPASS_PYTHON "Build the package commpass for Python, where pybind11 and numpy are found"
  ${PROJECT_IS_TOP_LEVEL})
set(COMMPASS_PYTHON_EXECUTABLE "" CACHE FILEPATH "The Python that the package is for, in place of one with numpy")
set(COMMPASS_PYTHON_MPI "")
if(NOT COMMPASS_PYTHON OR COMMPASS_SIMULATION OR COMMPASS_SANITIZE)  # neither has a Python that was built for it
  set(COMMPASS_PYTHON OFF)
  return()
endif()

# The first Python of the path need not be the one that has the packages of the system.
set(commpass_pythons ${COMMPASS_PYTHON_EXECUTABLE})
if(NOT commpass_pythons)
  find_program(commpass_python_of_path python3 NO_CACHE)
  find_program(commpass_python_of_system python3 PATHS ${CMAKE_SYSROOT}/usr/bin NO_DEFAULT_PATH NO_CACHE)
  set(commpass_pythons ${commpass_python_of_path} ${commpass_python_of_system})
endif()
set(commpass_python_found "")
foreach(python IN LISTS commpass_pythons)
  execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed EQUAL 0)
    set(commpass_python_found ${python})
    break()
  endif()
endforeach()
if(commpass_python_found)
  set(Python_EXECUTABLE ${commpass_python_found})
  find_package(Python QUIET COMPONENTS Interpreter Development.Module)
  find_package(pybind11 QUIET CONFIG)
endif()
if(NOT Python_FOUND OR NOT pybind11_FOUND)
  message(STATUS
    "The package for Python is left out: pybind11, numpy and Python's headers (pybind11-dev, python3-numpy, python3-dev) are not all here")
  set(COMMPASS_PYTHON OFF)
  return()
endif()

if(COMMPASS_MPI)
  execute_process(COMMAND ${Python_EXECUTABLE} -c
                  "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.get_vendor()[0])"
                  OUTPUT_VARIABLE vendor OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(TOLOWER "${vendor}" library)
  string(REPLACE " " "" library "${library}")
  if(library STREQUAL COMMPASS_MPI_LIBRARY)
    set(COMMPASS_PYTHON_MPI ${vendor})
  else()
    message(STATUS "The package for Python has no exchanges: there is no mpi4py (python3-mpi4py) for this MPI library")
  endif()
endif()

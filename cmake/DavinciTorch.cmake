# DAVINCI_WITH_TORCH = AUTO | ON | OFF: whether libdavinci_model.so is built (the embedded language model and the
# trainer). LibTorch is the one inside the Python environment's torch package, so that the model computes with the kernels
# the judge compares with. AUTO builds it when that torch has its C++ headers and libraries; ON fails without them.
#
# Defines the variable DAVINCI_TORCH (TRUE or FALSE) and, when TRUE, the target davinci_torch.
set(DAVINCI_WITH_TORCH AUTO CACHE STRING "Build the embedded language model: AUTO, ON or OFF")
set_property(CACHE DAVINCI_WITH_TORCH PROPERTY STRINGS AUTO ON OFF)

function(davinci_find_torch)
  set(DAVINCI_TORCH FALSE PARENT_SCOPE)
  if(NOT DAVINCI_WITH_TORCH MATCHES "^(AUTO|ON|OFF|TRUE|FALSE|1|0)$")
    message(FATAL_ERROR "DAVINCI_WITH_TORCH=${DAVINCI_WITH_TORCH}: AUTO, ON or OFF")
  endif()
  if(DAVINCI_WITH_TORCH MATCHES "^(OFF|FALSE|0)$")
    message(STATUS "LibTorch: off; no embedded model, no training")
    return()
  endif()
  set(python python3)
  if(DEFINED ENV{DAVINCI_PYTHON})
    set(python $ENV{DAVINCI_PYTHON})
  elseif(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    set(python ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  elseif(EXISTS ${PROJECT_SOURCE_DIR}/build/python_path)
    file(STRINGS ${PROJECT_SOURCE_DIR}/build/python_path python LIMIT_COUNT 1)
  endif()
  set(flags "")
  if(SKBUILD AND DEFINED Python_EXECUTABLE AND NOT DEFINED ENV{DAVINCI_PYTHON})
    # The Python that the wheel is installed into, without the packages of pip's build environment.
    set(python ${Python_EXECUTABLE})
    set(flags -E)
  endif()
  execute_process(
    COMMAND ${python} ${flags} ${PROJECT_SOURCE_DIR}/cmake/find_torch.py
    OUTPUT_VARIABLE found ERROR_VARIABLE why RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    if(DAVINCI_WITH_TORCH STREQUAL "AUTO")
      message(NOTICE
        "davinci: built WITHOUT the embedded model and training: ${python} has no usable torch (${why}).\n"
        "  To include them:  ./quickstart.sh  (installs torch into .venv), or\n"
        "                    DAVINCI_PYTHON=/path/to/python cmake --preset <preset>  with torch >= 2.9 in that Python.\n"
        "  To silence this:  -DDAVINCI_WITH_TORCH=OFF")
      return()
    endif()
    message(FATAL_ERROR "DAVINCI_WITH_TORCH=ON, but ${python} has no usable torch: ${why}")
  endif()
  # Line by line: version, root, CUDA header folder or nothing.
  string(REPLACE "\n" ";" found "${found}")
  list(GET found 0 version)
  list(GET found 1 root)
  list(GET found 2 cuda_include)
  add_library(davinci_torch INTERFACE)
  # Behind the system's: the wheel brings its own fmt, which must not meet ours.
  target_compile_options(davinci_torch INTERFACE "SHELL:-idirafter ${root}/include")
  target_compile_definitions(davinci_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
  if(DAVINCI_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Its headers hold memory fences, which gcc's thread sanitizer does not see.
    target_compile_options(davinci_torch INTERFACE -Wno-tsan)
  endif()
  # libtorch_cuda registers its kernels when it is loaded; no symbol of it may be needed.
  target_link_options(davinci_torch INTERFACE -Wl,--no-as-needed -Wl,-rpath,${root}/lib)
  target_link_libraries(davinci_torch INTERFACE ${root}/lib/libtorch.so ${root}/lib/libtorch_cpu.so ${root}/lib/libc10.so)
  set(with "CPU")
  if(EXISTS ${root}/lib/libtorch_cuda.so)
    if(cuda_include STREQUAL "-")
      set(with "CPU; CUDA is left out: no cuda_runtime_api.h with crt/host_config.h beside it")
    else()
      target_compile_options(davinci_torch INTERFACE "SHELL:-idirafter ${cuda_include}")
      target_link_libraries(davinci_torch INTERFACE ${root}/lib/libtorch_cuda.so ${root}/lib/libc10_cuda.so)
      target_compile_definitions(davinci_torch INTERFACE DAVINCI_TORCH_CUDA=1)
      set(with "CPU and CUDA")
    endif()
  endif()
  message(STATUS "LibTorch: ${version} in ${root} (${with})")
  # A wheel carries it: LibTorch's interface changes with every version.
  file(WRITE ${CMAKE_BINARY_DIR}/lib/torch_version "${version}\n")
  set(DAVINCI_TORCH TRUE PARENT_SCOPE)
endfunction()

davinci_find_torch()

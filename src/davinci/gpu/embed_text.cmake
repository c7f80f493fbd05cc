# cmake -DOUTPUT=<file.inc> -DINPUTS=<a;b> -P embed_text.cmake
# Joins text files into one C++ raw string literal, each part preceded by a #line directive so that a compiler's message
# names the right file and line. `#pragma once` and includes are dropped: the parts are one translation unit.
set(text "")
foreach(input ${INPUTS})
  file(READ ${input} part)
  string(REGEX REPLACE "(^|\n)#pragma once[^\n]*" "\\1" part "${part}")
  string(REGEX REPLACE "(^|\n)#include[^\n]*" "\\1" part "${part}")
  get_filename_component(name ${input} NAME)
  string(APPEND text "#line 1 \"${name}\"\n${part}\n")
endforeach()
file(WRITE ${OUTPUT}.tmp "R\"DAVINCI_KERNELS(${text})DAVINCI_KERNELS\"\n")
file(COPY_FILE ${OUTPUT}.tmp ${OUTPUT} ONLY_IF_DIFFERENT)

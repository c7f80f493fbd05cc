# What is installed: the program, built here or already (DAVINCI_PREBUILT), and its data.
include(GNUInstallDirs)

# What the program looks for under ../share/davinci (apps/davinci/installation.cc).
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/../cards ${CMAKE_CURRENT_LIST_DIR}/../prompts ${CMAKE_CURRENT_LIST_DIR}/../recipes ${CMAKE_CURRENT_LIST_DIR}/../skills ${CMAKE_CURRENT_LIST_DIR}/../synth
  ${CMAKE_CURRENT_LIST_DIR}/../examples ${CMAKE_CURRENT_LIST_DIR}/../tasks ${CMAKE_CURRENT_LIST_DIR}/../python
  DESTINATION share/davinci PATTERN __pycache__ EXCLUDE PATTERN "*/python/davinci" EXCLUDE
  PATTERN "*/synth/modules" EXCLUDE)
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/../models/davinci-nano)
  install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/../models/davinci-nano DESTINATION share/davinci/models)
endif()

if(DAVINCI_PREBUILT)
  install(PROGRAMS ${DAVINCI_PREBUILT}/apps/davinci/davinci DESTINATION bin)
  install(PROGRAMS ${DAVINCI_PREBUILT}/lib/libdavinci_worker.so DESTINATION lib)
  install(PROGRAMS ${DAVINCI_PREBUILT}/lib/libdavinci_model.so DESTINATION lib OPTIONAL)
  set(torch_version ${DAVINCI_PREBUILT}/lib/torch_version)
else()
  install(TARGETS davinci RUNTIME DESTINATION bin)
  install(FILES $<TARGET_FILE:davinci_worker_lib> DESTINATION lib)
  set(torch_version ${CMAKE_BINARY_DIR}/lib/torch_version)
endif()

# In a wheel: the libraries that another machine may not have, found through the program's RPATH. Its C and C++ run-time libraries are used.
# After the program is installed: the script runs in the order of this file, and reads the installed program.
# The model library finds LibTorch in the torch package of the Python that runs the program (src/davinci/model/model_library.cc).
if(SKBUILD)
  install(FILES ${torch_version} DESTINATION lib RENAME libdavinci_model.torch OPTIONAL)
  install(CODE [[
    set(model "${CMAKE_INSTALL_PREFIX}/lib/libdavinci_model")
    if(EXISTS "$ENV{DESTDIR}${model}.so" AND EXISTS "$ENV{DESTDIR}${model}.torch")
      file(RPATH_REMOVE FILE "$ENV{DESTDIR}${model}.so")
    endif()]])
  install(CODE [[
    set(prefix "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
    file(GET_RUNTIME_DEPENDENCIES
      EXECUTABLES "${prefix}/bin/davinci" LIBRARIES "${prefix}/lib/libdavinci_worker.so"
      RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR missing
      PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+])[.]so")
    if(missing)
      message(FATAL_ERROR "not found, and needed by davinci: ${missing}")
    endif()
    foreach(library ${found})
      file(INSTALL "${library}" DESTINATION "${prefix}/lib" FOLLOW_SYMLINK_CHAIN)
    endforeach()]])
endif()

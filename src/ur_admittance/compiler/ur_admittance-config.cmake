# find_package(ur_admittance CONFIG REQUIRED)
# target_link_libraries(program ur_admittance::ur_admittance)
if(NOT TARGET ur_admittance::ur_admittance)
  add_library(ur_admittance::ur_admittance SHARED IMPORTED)
  set_target_properties(ur_admittance::ur_admittance PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/libur_admittance.so"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
endif()

#include "queries/common/query_main.h"
#include "queries/ysb/ysb_program.h"

int main(int argc, char** argv) { return glaive::queries::QueryMain<glaive::queries::ysb::YsbProgram>(argc, argv); }

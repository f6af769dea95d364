#include "queries/cm/cm_program.h"
#include "queries/common/query_main.h"

int main(int argc, char** argv) { return glaive::queries::QueryMain<glaive::queries::cm::CmProgram>(argc, argv); }

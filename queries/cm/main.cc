#include "engine/cluster/main.h"

#include "queries/cm/cm_program.h"

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::cm::CmProgram>(argc, argv); }

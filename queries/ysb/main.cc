#include "engine/cluster/main.h"

#include "queries/ysb/ysb_program.h"

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::ysb::YsbProgram>(argc, argv); }

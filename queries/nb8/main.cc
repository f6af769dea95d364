#include "engine/cluster/main.h"

#include "queries/nb8/nb8_program.h"

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::nb8::Nb8Program>(argc, argv); }

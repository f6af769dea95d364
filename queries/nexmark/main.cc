#include "engine/cluster/main.h"

#include "queries/nexmark/nexmark_program.h"

int main(int argc, char** argv) {
  return glaive::engine::Main<glaive::queries::nexmark::suite::NexmarkProgram>(argc, argv);
}

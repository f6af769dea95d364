#include "engine/cluster/main.h"

#include "queries/collisions/collisions_program.h"

int main(int argc, char** argv) {
  return glaive::engine::Main<glaive::queries::collisions::CollisionsProgram>(argc, argv);
}

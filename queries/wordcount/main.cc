#include "engine/cluster/main.h"

#include "queries/wordcount/wordcount_program.h"

int main(int argc, char** argv) {
  return glaive::engine::Main<glaive::queries::wordcount::WordcountProgram>(argc, argv);
}

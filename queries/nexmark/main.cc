#include "queries/common/query_main.h"
#include "queries/nexmark/nexmark_program.h"

int main(int argc, char** argv) {
  return glaive::queries::QueryMain<glaive::queries::nexmark::suite::NexmarkProgram>(argc, argv);
}

#include "queries/common/query_main.h"
#include "queries/wordcount/wordcount_program.h"

int main(int argc, char** argv) {
  return glaive::queries::QueryMain<glaive::queries::wordcount::WordcountProgram>(argc, argv);
}

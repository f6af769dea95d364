"""Tests that the layers and queries have no mutable globals, and that the rule can fail.

Needs the archives of a build: ctest says which one (GLAIVE_BUILD_DIR).
"""

import os
import pathlib
import subprocess
import unittest

from source_tree import assert_kept, temporary_tree
from symbol_rules import check_mutable_globals


class SymbolRulesTest(unittest.TestCase):
    def test_the_project_has_no_mutable_globals(self):
        archives = sorted(pathlib.Path(os.environ["GLAIVE_BUILD_DIR"]).glob("libglaive_*.a"))
        names = {archive.name for archive in archives}
        self.assertLessEqual({"libglaive_rdma.a", "libglaive_state.a", "libglaive_engine.a"}, names)
        self.assertTrue(any(name.startswith("libglaive_query_") for name in names), names)
        assert_kept(self, check_mutable_globals(archives))

    def findings_of(self, code):
        tree = temporary_tree(self, {"code.cc": code})
        source, target = tree.root / "code.cc", tree.root / "code.o"
        compiler = os.environ.get("GLAIVE_CXX", "c++")
        subprocess.run([compiler, "-std=c++20", "-O1", "-c", str(source), "-o", str(target)], check=True)
        return check_mutable_globals([target])

    def test_each_kind_of_mutable_global_is_refused(self):
        for code in [
            "int counter = 1;",
            "int counter;",
            "namespace glaive { inline int counter = 1; int* Use() { return &counter; } }",
            "namespace { int counter; } int* Use() { return &counter; }",
            "int* Use() { static int counter = 1; return &counter; }",
            "template <typename T> T* Use() { static T counter; return &counter; } int* x() { return Use<int>(); }",
            "struct S { static int counter; }; int S::counter = 2;",
            "thread_local int counter = 1;",
            "#include <string>\nint Make();\nconst int kMade = Make(); const int* Use() { return &kMade; }",
        ]:
            with self.subTest(code):
                self.assertGreaterEqual(len(self.findings_of(code)), 1)

    def test_constants_and_tables_are_allowed(self):
        code = """
          #include <array>
          #include <iostream>
          #include <string_view>
          namespace glaive {
          inline constexpr int kLimit = 3;
          constexpr std::array<std::string_view, 2> kNames = {"a", "b"};
          const char* const kText[] = {"a", "b"};
          struct Base { virtual ~Base() = default; virtual int F() const { return kLimit; } };
          struct Derived : Base { int F() const override { std::cout << kNames[1] << kText[1]; return 5; } };
          Base* Make() { return new Derived; }
          const int* Use() { static constexpr int kOther = 4; return &kOther; }
          void Throw() { throw 1; }
          }
        """
        self.assertEqual(self.findings_of(code), [])


if __name__ == "__main__":
    unittest.main()

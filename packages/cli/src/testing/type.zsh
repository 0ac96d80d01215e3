# Types lines and a tab into a zsh of its own, as somebody at a terminal: type.zsh SETTING-UP [LINE EXPECTED]…
# Waits for each line's EXPECTED, a pattern, and says so; it ends by itself only if all come.
zmodload zsh/zpty
zpty z zsh -f -i
# What is typed is echoed too, hence the sum.
zpty -w z "$1; PS1='> '; zstyle ':completion:*' verbose yes; echo READY-\$((1 + 1))"
zpty -r z out "*READY-2*> *"
shift
for line expected in "$@"; do
  zpty -w -n z "$line"$'\t'
  zpty -r z out "*$expected*"
  print -r -- "$line"
  zpty -w -n z $'\C-u'
done
zpty -d z

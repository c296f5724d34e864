# What the user's own configuration says.
git init -q repo; cd repo; git commit -q --allow-empty -m one
printf '[alias]\n\tup = !echo up && git status -s\n' >>~/.gitconfig; git up
git config --global core.abbrev 12; git log --oneline

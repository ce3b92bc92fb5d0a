struct Tree {
  int height();
};
int width() { return 1; }
int height(Tree tree) { return 1; }
int Tree::height() { return 2; }

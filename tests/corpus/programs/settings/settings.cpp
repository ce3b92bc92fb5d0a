int tile_width = 32;
void configure(int wide) { tile_width = wide ? 64 : 63; }

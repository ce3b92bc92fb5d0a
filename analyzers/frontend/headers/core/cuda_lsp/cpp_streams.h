// Streams: everything can be written to one and read from one.
#pragma once
#include <cuda_lsp/cpp_functional.h>

namespace std {
using streamsize = long;
using streamoff = long;
class locale { public: locale(); explicit locale(const char *name); static const locale &classic(); };
template <class C> bool isspace(C character, const locale &where);
template <class C> bool isdigit(C character, const locale &where);
template <class C> bool isalpha(C character, const locale &where);
template <class C> bool isalnum(C character, const locale &where);
template <class C> C toupper(C character, const locale &where);
template <class C> C tolower(C character, const locale &where);
class streampos { public: streampos(long at); operator long() const; };
class ios_base {
public:
  enum fmtflags : int { dec = 2, fixed = 4, hex = 8, oct = 64, scientific = 256, boolalpha = 1, showbase = 512, left = 32, right = 128, showpoint = 1024, showpos = 2048, uppercase = 16384, skipws = 4096, adjustfield = 176, basefield = 74, floatfield = 260, internal = 16 };
  enum openmode : int { app = 1, ate = 2, binary = 4, in = 8, out = 16, trunc = 32 };
  enum seekdir : int { beg, cur, end };
  enum iostate : int { goodbit = 0, badbit = 1, eofbit = 2, failbit = 4 };
  fmtflags flags() const;
  fmtflags flags(fmtflags value);
  fmtflags setf(fmtflags value);
  fmtflags setf(fmtflags value, fmtflags mask);
  void unsetf(fmtflags value);
  streamsize precision() const;
  streamsize precision(streamsize value);
  streamsize width() const;
  streamsize width(streamsize value);
  static bool sync_with_stdio(bool value = true);
  locale imbue(const locale &value);
  locale getloc() const;
  long &iword(int index);
  void *&pword(int index);
  static int xalloc();
};
inline ios_base::openmode operator|(ios_base::openmode a, ios_base::openmode b) { return ios_base::openmode(int(a) | int(b)); }
inline ios_base::fmtflags operator|(ios_base::fmtflags a, ios_base::fmtflags b) { return ios_base::fmtflags(int(a) | int(b)); }
class streambuf {};
class ios : public ios_base {
public:
  bool good() const;
  bool eof() const;
  bool fail() const;
  bool bad() const;
  bool operator!() const;
  explicit operator bool() const;
  iostate rdstate() const;
  void clear(iostate state = goodbit);
  void exceptions(iostate state);
  void setstate(iostate state);
  streambuf *rdbuf() const;
  streambuf *rdbuf(streambuf *buffer);
  char fill() const;
  char fill(char c);
  ios &copyfmt(const ios &other);
};
class ostream : virtual public ios {
public:
  ostream &operator<<(ostream &(*manipulator)(ostream &));
  ostream &operator<<(ios &(*manipulator)(ios &));
  ostream &operator<<(ios_base &(*manipulator)(ios_base &));
  ostream &put(char c);
  ostream &write(const char *from, streamsize n);
  ostream &flush();
  streampos tellp();
  ostream &seekp(long at);
  ostream &seekp(long offset, seekdir from);
};
template <class T> ostream &operator<<(ostream &stream, const T &value);
class istream : virtual public ios {
public:
  istream &operator>>(istream &(*manipulator)(istream &));
  istream &operator>>(ios_base &(*manipulator)(ios_base &));
  int get();
  istream &get(char &c);
  istream &getline(char *to, streamsize n, char end = '\n');
  istream &read(char *to, streamsize n);
  istream &ignore(streamsize n = 1, int end = -1);
  int peek();
  istream &unget();
  istream &putback(char c);
  streamsize gcount() const;
  streampos tellg();
  istream &seekg(long at);
  istream &seekg(long offset, seekdir from);
};
template <class T> istream &operator>>(istream &stream, T &&value);
class iostream : public istream, public ostream {};
template <class C> istream &getline(istream &stream, basic_string<C> &to);
template <class C> istream &getline(istream &stream, basic_string<C> &to, C end);
extern ostream cout, cerr, clog;
extern istream cin;
ostream &endl(ostream &stream);
ostream &ends(ostream &stream);
ostream &flush(ostream &stream);
istream &ws(istream &stream);
#define CUDA_LSP_MANIPULATOR(name) ios_base &name(ios_base &stream);
CUDA_LSP_MANIPULATOR(dec) CUDA_LSP_MANIPULATOR(hex) CUDA_LSP_MANIPULATOR(oct) CUDA_LSP_MANIPULATOR(fixed) CUDA_LSP_MANIPULATOR(scientific)
CUDA_LSP_MANIPULATOR(defaultfloat) CUDA_LSP_MANIPULATOR(boolalpha) CUDA_LSP_MANIPULATOR(noboolalpha) CUDA_LSP_MANIPULATOR(left)
CUDA_LSP_MANIPULATOR(right) CUDA_LSP_MANIPULATOR(internal) CUDA_LSP_MANIPULATOR(showbase) CUDA_LSP_MANIPULATOR(noshowbase) CUDA_LSP_MANIPULATOR(showpoint)
CUDA_LSP_MANIPULATOR(showpos) CUDA_LSP_MANIPULATOR(noshowpos) CUDA_LSP_MANIPULATOR(uppercase) CUDA_LSP_MANIPULATOR(nouppercase)
CUDA_LSP_MANIPULATOR(skipws) CUDA_LSP_MANIPULATOR(noskipws)
#undef CUDA_LSP_MANIPULATOR
struct cuda_lsp_manipulator {};
cuda_lsp_manipulator setw(int n);
cuda_lsp_manipulator setprecision(int n);
template <class C> cuda_lsp_manipulator setfill(C c);
cuda_lsp_manipulator setbase(int base);
cuda_lsp_manipulator setiosflags(ios_base::fmtflags flags);
cuda_lsp_manipulator put_time(const tm *time, const char *format);
cuda_lsp_manipulator get_time(tm *time, const char *format);
template <class T> cuda_lsp_manipulator quoted(const T &text);

class stringstream : public iostream {
public:
  stringstream();
  explicit stringstream(const string &text, openmode mode = in | out);
  string str() const;
  void str(const string &text);
};
class ostringstream : public ostream {
public:
  ostringstream();
  explicit ostringstream(const string &text);
  string str() const;
  void str(const string &text);
};
class istringstream : public istream {
public:
  istringstream();
  explicit istringstream(const string &text);
  string str() const;
  void str(const string &text);
};
#define CUDA_LSP_FILE_STREAM(name, base)                                     \
  class name : public base {                                                 \
  public:                                                                    \
    name();                                                                  \
    explicit name(const string &path, openmode mode = in);                   \
    explicit name(const char *path, openmode mode = in);                     \
    void open(const string &path, openmode mode = in);                       \
    void open(const char *path, openmode mode = in);                         \
    void close();                                                            \
    bool is_open() const;                                                    \
  };
CUDA_LSP_FILE_STREAM(ifstream, istream)
CUDA_LSP_FILE_STREAM(ofstream, ostream)
CUDA_LSP_FILE_STREAM(fstream, iostream)
#undef CUDA_LSP_FILE_STREAM
template <class T, class C = char> struct istream_iterator : iterator<input_iterator_tag, T> {
  istream_iterator();
  istream_iterator(istream &stream);
  const T &operator*() const;
  istream_iterator &operator++();
  istream_iterator operator++(int);
  bool operator!=(const istream_iterator &other) const;
  bool operator==(const istream_iterator &other) const;
};
template <class T, class C = char> struct ostream_iterator : iterator<output_iterator_tag, void, ptrdiff_t, void, int> {
  ostream_iterator(ostream &stream, const char *separator = nullptr);
  ostream_iterator &operator=(const T &value);
  ostream_iterator &operator*();
  ostream_iterator &operator++();
  ostream_iterator operator++(int);
};
template <class C = char> struct istreambuf_iterator : iterator<input_iterator_tag, C> {
  istreambuf_iterator();
  istreambuf_iterator(istream &stream);
  C operator*() const;
  istreambuf_iterator &operator++();
  istreambuf_iterator operator++(int);
  bool operator!=(const istreambuf_iterator &other) const;
  bool operator==(const istreambuf_iterator &other) const;
};
}  // namespace std

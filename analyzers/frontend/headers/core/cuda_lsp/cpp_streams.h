// Streams: everything can be written to one and read from one.
#pragma once
#include <cuda_lsp/hide_macros.h>
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
  class failure : public system_error {
  public:
    using system_error::system_error;
    explicit failure(const char *what);
  };
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
inline ios_base::iostate operator|(ios_base::iostate a, ios_base::iostate b) { return ios_base::iostate(int(a) | int(b)); }
inline ios_base::iostate operator&(ios_base::iostate a, ios_base::iostate b) { return ios_base::iostate(int(a) & int(b)); }
inline ios_base::fmtflags operator|(ios_base::fmtflags a, ios_base::fmtflags b) { return ios_base::fmtflags(int(a) | int(b)); }
template <class C, class Tr = char_traits<C>> class basic_streambuf {
public:
  streamsize in_avail();
  C *data() const;
};
template <class C, class Tr = char_traits<C>> class basic_ios : public ios_base {
public:
  using char_type = C;
  bool good() const;
  bool eof() const;
  bool fail() const;
  bool bad() const;
  bool operator!() const;
  explicit operator bool() const;
  iostate rdstate() const;
  void clear(iostate state = goodbit);
  iostate exceptions() const;
  void exceptions(iostate state);
  void setstate(iostate state);
  basic_streambuf<C, Tr> *rdbuf() const;
  basic_streambuf<C, Tr> *rdbuf(basic_streambuf<C, Tr> *buffer);
  C fill() const;
  C fill(C c);
  basic_ios &copyfmt(const basic_ios &other);
};
template <class C, class Tr = char_traits<C>> class basic_ostream : virtual public basic_ios<C, Tr> {
public:
  basic_ostream &operator<<(basic_ostream &(*manipulator)(basic_ostream &));
  basic_ostream &operator<<(basic_ios<C, Tr> &(*manipulator)(basic_ios<C, Tr> &));
  basic_ostream &operator<<(ios_base &(*manipulator)(ios_base &));
  basic_ostream &put(C c);
  basic_ostream &write(const C *from, streamsize n);
  basic_ostream &flush();
  streampos tellp();
  basic_ostream &seekp(long at);
  basic_ostream &seekp(long offset, ios_base::seekdir from);
};
template <class C, class Tr = char_traits<C>> class basic_istream : virtual public basic_ios<C, Tr> {
public:
  basic_istream &operator>>(basic_istream &(*manipulator)(basic_istream &));
  basic_istream &operator>>(ios_base &(*manipulator)(ios_base &));
  int get();
  basic_istream &get(C &c);
  basic_istream &getline(C *to, streamsize n, C end = '\n');
  basic_istream &read(C *to, streamsize n);
  basic_istream &ignore(streamsize n = 1, int end = -1);
  int peek();
  basic_istream &unget();
  basic_istream &putback(C c);
  streamsize gcount() const;
  streampos tellg();
  basic_istream &seekg(long at);
  basic_istream &seekg(long offset, ios_base::seekdir from);
};
template <class C, class Tr = char_traits<C>> class basic_iostream : public basic_istream<C, Tr>, public basic_ostream<C, Tr> {};
using streambuf = basic_streambuf<char>;
using ios = basic_ios<char>;
using ostream = basic_ostream<char>;
using istream = basic_istream<char>;
using iostream = basic_iostream<char>;
using wostream = basic_ostream<wchar_t>;
using wistream = basic_istream<wchar_t>;
template <class T> ostream &operator<<(ostream &stream, const T &value);
template <class T> istream &operator>>(istream &stream, T &&value);
template <class C> istream &getline(istream &stream, basic_string<C> &to);
template <class C> istream &getline(istream &stream, basic_string<C> &to, C end);
extern ostream cout, cerr, clog;
extern istream cin;
extern wostream wcout, wcerr;
template <class C, class Tr> basic_ostream<C, Tr> &endl(basic_ostream<C, Tr> &stream);
template <class C, class Tr> basic_ostream<C, Tr> &ends(basic_ostream<C, Tr> &stream);
template <class C, class Tr> basic_ostream<C, Tr> &flush(basic_ostream<C, Tr> &stream);
template <class C, class Tr> basic_istream<C, Tr> &ws(basic_istream<C, Tr> &stream);
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

class stringbuf : public streambuf {
public:
  string str() const;
};
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
#include <cuda_lsp/show_macros.h>

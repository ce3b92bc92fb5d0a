;;; cuda-lsp.el --- Data races of CUDA kernels, through Eglot -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))
;; Version: 0.1.0
;; Keywords: languages, tools
;; SPDX-License-Identifier: Apache-2.0

;;; Commentary:

;; Has Eglot start `cuda-lsp serve' for CUDA files, and adds commands for what Eglot has no place for:
;;
;;   (require 'cuda-lsp)
;;   (add-hook 'cuda-mode-hook #'eglot-ensure)
;;
;; Hover (ElDoc), diagnostics (Flymake) and code actions are Eglot's own.  Emacs comes with Eglot from version 29 on;
;; before, it is in GNU ELPA, and in Debian and Ubuntu as elpa-eglot.

;;; Code:

(require 'eglot)
(require 'jsonrpc)
(require 'compile)
(require 'browse-url)

(defgroup cuda-lsp nil
  "Data races of CUDA kernels."
  :group 'tools)

(defcustom cuda-lsp-program '("cuda-lsp")
  "The program and its first arguments, a list of strings."
  :type '(repeat string))

(defcustom cuda-lsp-run-arguments nil
  "Further arguments of `cuda-lsp run', a list of strings such as (\"--seeds\" \"16\")."
  :type '(repeat string))

;; MELPA has a mode of this name, with more keywords to highlight; it is kept where it is installed.
(unless (fboundp 'cuda-mode)
  (define-derived-mode cuda-mode c++-mode "CUDA"
    "C++ with kernels and launches."))

(unless (assoc "a.cu" auto-mode-alist #'string-match-p)
  (add-to-list 'auto-mode-alist '("\\.cuh?\\'" . cuda-mode)))

(add-to-list 'eglot-server-programs
             (cons 'cuda-mode (lambda (&rest _) (append cuda-lsp-program '("serve")))))

;; Requests

(defun cuda-lsp--server ()
  "The server of this buffer; an error where there is none."
  (or (eglot-current-server) (user-error "No server is running for this buffer: M-x eglot")))

(defun cuda-lsp--uri ()
  "The URI of this buffer's file, as Eglot gives it to the server."
  (funcall (if (fboundp 'eglot-path-to-uri) 'eglot-path-to-uri 'eglot--path-to-uri) buffer-file-name))

(defun cuda-lsp--execute (command &rest arguments)
  "Have the server execute COMMAND, a string, with ARGUMENTS; its answer."
  (jsonrpc-request (cuda-lsp--server) :workspace/executeCommand
                   (list :command command :arguments (vconcat arguments))))

(defun cuda-lsp--kernels ()
  "The kernels that the lenses over this buffer name: a list of (NAME . LINE), lines from 1."
  (let ((lenses (jsonrpc-request (cuda-lsp--server) :textDocument/codeLens
                                 (list :textDocument (list :uri (cuda-lsp--uri))))))
    (mapcar (lambda (lens)
              (cons (aref (plist-get (plist-get lens :command) :arguments) 1)
                    (1+ (plist-get (plist-get (plist-get lens :range) :start) :line))))
            lenses)))

(defun cuda-lsp--read-kernel (prompt)
  "Ask for a kernel of this buffer with PROMPT; the one at or above point is the default."
  (let* ((kernels (cuda-lsp--kernels))
         (above (seq-filter (lambda (kernel) (<= (cdr kernel) (line-number-at-pos nil t))) kernels))
         (default (car (or (car (last above)) (car kernels)))))
    (completing-read (format-prompt prompt default) (delete-dups (mapcar #'car kernels)) nil nil nil nil default)))

(defun cuda-lsp--command-line (&rest words)
  "The program with WORDS, quoted for the shell."
  (mapconcat #'shell-quote-argument (append cuda-lsp-program words) " "))

(defun cuda-lsp--compile (name &rest words)
  "Show the program at work with WORDS in a compilation buffer NAME, whose lines lead to the source."
  (compilation-start (apply #'cuda-lsp--command-line words) nil (lambda (_mode) name)))

;; Commands

;;;###autoload
(defun cuda-lsp-run (kernel)
  "Run KERNEL of this buffer under the race detector, on this computer's processor.
This compiles and executes code of the file, which is saved first."
  (interactive (list (cuda-lsp--read-kernel "Run kernel")))
  (save-buffer)
  (let ((default-directory (file-name-directory buffer-file-name))
        (target (concat (file-name-nondirectory buffer-file-name) ":" kernel)))
    (apply #'cuda-lsp--compile (format "*cuda-lsp run %s*" kernel) "run" target cuda-lsp-run-arguments)))

;;;###autoload
(defun cuda-lsp-races ()
  "Draw the findings of this buffer on a page, and show it in a browser."
  (interactive)
  (browse-url (plist-get (cuda-lsp--execute "cuda-lsp.writeReport" (cuda-lsp--uri)) :uri)))

;;;###autoload
(defun cuda-lsp-recheck ()
  "Check this buffer again although nothing has changed."
  (interactive)
  (cuda-lsp--execute "cuda-lsp.recheck" (cuda-lsp--uri)))

;;;###autoload
(defun cuda-lsp-fix-all ()
  "Apply all fixes of this buffer that are proved together."
  (interactive)
  (eglot-code-actions (point-min) (point-max) "source.fixAll.cuda-lsp" t))

;;;###autoload
(defun cuda-lsp-check-project ()
  "Check every CUDA file of the project; the lines of the report lead to the source."
  (interactive)
  (let ((default-directory (if-let ((project (project-current))) (project-root project) default-directory)))
    (cuda-lsp--compile "*cuda-lsp check*" "check" "--color" "never" ".")))

;;;###autoload
(defun cuda-lsp-docs (page)
  "Show a PAGE of the documentation, by default the one of the diagnostic at point."
  (interactive
   (let* ((pages (mapcar (lambda (line) (car (split-string line)))
                         (split-string (shell-command-to-string (cuda-lsp--command-line "docs")) "\n" t)))
          (here (mapconcat #'flymake-diagnostic-text (flymake-diagnostics (point)) "\n"))
          (default (seq-find (lambda (each) (string-match-p (format "\\[%s\\]" (regexp-quote each)) here)) pages)))
     (list (completing-read (format-prompt "Page" default) pages nil t nil nil default))))
  (let ((file (string-trim (shell-command-to-string (cuda-lsp--command-line "docs" "--path" page)))))
    (view-file-other-window file)))

(provide 'cuda-lsp)
;;; cuda-lsp.el ends here

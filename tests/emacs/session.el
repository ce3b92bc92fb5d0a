;;; session.el --- what a programmer does in one sitting -*- lexical-binding: t; -*-

;; Run by tests/test_emacs.py in an Emacs that has a terminal: open a file, see the diagnostic, read ElDoc, apply the
;; fix, undo it, apply it again, save, see that the diagnostic is gone; then the commands of cuda-lsp.el.  Each step
;; waits for an event, with a deadline, and what was seen is written as JSON.

(require 'package)
(package-initialize)
(require 'json)

(defvar wish (let ((json-array-type 'list)) (json-read-from-string (getenv "CUDA_LSP_TEST"))))
(defvar seen nil)

(defun wish (name) (cdr (assq name wish)))
(defun note (name value) (push (cons name value) seen))

(defun until-holds (what holds)
  "Wait as somebody who looks at the screen: timers and the server get their turn."
  (let ((end (+ (float-time) (wish 'deadline_s))) found)
    (while (not (setq found (funcall holds)))
      (when (> (float-time) end) (error "never came to hold: %s" what))
      ;; An event that nobody reads would end each wait at once, and no process would get its turn any more.
      (discard-input)
      (sit-for 0.05)
      (accept-process-output nil 0.01))
    found))

(defun text-of (buffer)
  (with-current-buffer buffer (buffer-substring-no-properties (point-min) (point-max))))

(defun diagnostics ()
  (mapcar (lambda (each)
            (list (cons 'text (flymake-diagnostic-text each))
                  (cons 'line (line-number-at-pos (flymake-diagnostic-beg each)))
                  (cons 'column (save-excursion (goto-char (flymake-diagnostic-beg each)) (current-column)))
                  (cons 'type (format "%s" (flymake-diagnostic-type each)))))
          (flymake-diagnostics)))

(defun with-answer (words does)
  "Call DOES; questions are answered with the first choice that has WORDS, or with the default where that is nil."
  (let ((last-nonmenu-event ?x) ; from the keyboard, not from a menu
        (completing-read-function
         (lambda (prompt choices &rest rest)
           (let* ((all (all-completions "" choices)) (default (nth 4 rest))
                  (chosen (if words (seq-find (lambda (each) (string-match-p (regexp-quote words) each)) all) default)))
             (note 'offered (append (cdr (assq 'offered seen)) all))
             (or chosen (error "not offered at %s: %s" prompt words))))))
    (funcall does)))

(defun repairs-are-there ()
  "Whether the server has found, or not found, the repairs for what is at point."
  (let* ((here (eglot--pos-to-lsp-position (point)))
         (actions (jsonrpc-request (eglot-current-server) :textDocument/codeAction
                                   (list :textDocument (eglot--TextDocumentIdentifier)
                                         :range (list :start here :end here)
                                         :context (list :diagnostics [])))))
    (not (seq-some (lambda (each) (string-prefix-p "Find the proved repair" (plist-get each :title))) actions))))

(defun apply-fix ()
  (goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
  (until-holds "repairs that were found" #'repairs-are-there)
  (undo-boundary)
  (with-answer "Insert __syncthreads()" (lambda () (call-interactively #'eglot-code-actions)))
  (undo-boundary)
  (text-of (current-buffer)))

(defun use-commands (code)
  (let* ((browse-url-browser-function (lambda (url &rest _) (note 'page url))))
    (cuda-lsp-races))
  (goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
  (with-answer nil (lambda () (call-interactively #'cuda-lsp-docs)))
  (note 'docs (text-of (current-buffer)))
  (quit-window)
  (switch-to-buffer code)
  (delete-other-windows)
  (goto-char (point-min))
  (let ((compilation-ask-about-save nil))
    (with-answer nil (lambda () (call-interactively #'cuda-lsp-run))))
  (note 'run (until-holds "the end of the run"
                          (lambda ()
                            (let ((buffer (get-buffer "*cuda-lsp run shift*")))
                              (and buffer (not (get-buffer-process buffer)) (text-of buffer))))))
  (with-current-buffer "*cuda-lsp run shift*"
    (until-holds "lines that lead to the source" (lambda () (compilation--ensure-parse (point-max)) t))
    (goto-char (point-min))
    (compilation-next-error 1)
    (compile-goto-error))
  (note 'led_to (list (cons 'file (buffer-file-name)) (cons 'line (line-number-at-pos))))
  (switch-to-buffer code)
  (delete-other-windows))

(defun sitting ()
  (add-to-list 'load-path (wish 'folder))
  (require 'cuda-lsp)
  (setq cuda-lsp-program (wish 'program)
        cuda-lsp-run-arguments '("--seeds" "2")
        eglot-sync-connect t
        eglot-connect-timeout 60
        eldoc-idle-delay 0.1
        make-backup-files nil)
  (add-hook 'cuda-mode-hook #'eglot-ensure)
  (find-file (wish 'file))
  ;; Eglot waits for the end of the command that opened the file.
  (run-hooks 'post-command-hook)
  (note 'mode (format "%s" major-mode))
  (let ((original (text-of (current-buffer))) (code (current-buffer)) fixed)
    (until-holds "a diagnostic" #'flymake-diagnostics)
    (note 'diagnostics (vconcat (diagnostics)))

    (goto-char (flymake-diagnostic-beg (car (flymake-diagnostics))))
    (forward-char)
    (note 'hover
          (until-holds "what ElDoc tells"
                       (lambda ()
                         (eldoc)
                         (sit-for 0.2)
                         (let ((buffer (seq-find (lambda (each) (string-prefix-p "*eldoc" (string-trim (buffer-name each))))
                                                 (buffer-list))))
                           (and buffer (string-match-p "replayed" (text-of buffer)) (text-of buffer))))))

    (use-commands code)

    (setq fixed (apply-fix))
    (note 'text fixed)
    (undo)
    (note 'undone (equal original (text-of code)))
    (undo-boundary)
    (until-holds "the diagnostic is there" #'flymake-diagnostics)
    (note 'fixed_again (equal fixed (apply-fix)))
    (save-buffer)
    (until-holds "no diagnostic after the fix" (lambda () (null (flymake-diagnostics))))
    (note 'clean t)))

(defun report (problem)
  (note 'problem problem)
  (let ((json-null nil) (json-false 'no))
    (write-region (json-encode (seq-uniq seen (lambda (a b) (eq (car a) (car b))))) nil (wish 'report)))
  (setq kill-buffer-query-functions nil)
  (ignore-errors (eglot-shutdown-all))
  (kill-emacs 0))

(add-hook 'emacs-startup-hook
          (lambda ()
            (run-at-time 0 nil
                         (lambda ()
                           (report (condition-case problem (progn (sitting) nil)
                                     ((error quit) (format "%S" problem))))))))

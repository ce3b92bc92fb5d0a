-- What a programmer does in one sitting, run by tests/test_nvim.py in a headless Neovim: open a file, see the
-- diagnostics and lenses, hover, apply the fix, undo it, apply it again, save, see that the diagnostic is gone; then the
-- commands of the plugin. Each step waits for an event, with a deadline, and what was seen is written as JSON. The
-- server is started by setup(), or, where `wish.way` says so, by vim.lsp.enable().

local wish = vim.fn.json_decode(vim.env.CUDA_LSP_TEST)
local seen = {}

local running = vim.lsp.get_clients or vim.lsp.get_active_clients

local function finish(problem)
  seen.problem = problem
  local file = assert(io.open(wish.report, "w"))
  file:write(vim.fn.json_encode(seen))
  file:close()
  for _, client in pairs(running()) do
    if vim.fn.has("nvim-0.11") == 1 then
      client:stop()
    else
      client.stop()
    end
  end
  vim.wait(10000, function()
    return #running() == 0
  end, 20)
  vim.cmd("qall!")
end

local function until_holds(what, holds)
  if not vim.wait(wish.deadline_ms, holds, 20) then
    error("never came to hold: " .. what)
  end
end

local function text_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n") .. "\n"
end

local function diagnostics()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, { line = each.lnum, column = each.col, message = each.message, code = each.user_data.lsp.code })
  end
  return found
end

local function floating()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return window
    end
  end
end

-- The text of the floating window, which is closed.
local function read_floating(what)
  until_holds(what, floating)
  local text = text_of(vim.api.nvim_win_get_buf(floating()))
  vim.api.nvim_win_close(floating(), true)
  return text
end

-- The lenses as they are drawn: line, from 0, and text. Neovim 0.12 draws them with the window only, which is headless
-- here: of it, as it keeps them.
local function drawn_lenses()
  local found = {}
  if vim.lsp.codelens.enable then
    for _, each in ipairs(vim.lsp.codelens.get({ bufnr = 0 })) do
      local line, last = each.lens.range.start.line, found[#found]
      if last and last.line == line then
        last.text = last.text .. " | " .. each.lens.command.title
      else
        table.insert(found, { line = line, text = each.lens.command.title })
      end
    end
    table.sort(found, function(one, other)
      return one.line < other.line
    end)
    return found
  end
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    if name:find("lsp.codelens:") then
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })) do
        local words = {}
        for _, chunk in ipairs(mark[4].virt_text) do
          table.insert(words, chunk[1])
        end
        table.insert(found, { line = mark[2], text = table.concat(words) })
      end
    end
  end
  return found
end

local function terminal_text()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    local buffer = vim.api.nvim_win_get_buf(window)
    if vim.bo[buffer].buftype == "terminal" then
      return text_of(buffer)
    end
  end
  return ""
end

-- Answers each question with the first item that has the words.
local function answer(words)
  vim.ui.select = function(items, options, choose)
    for _, item in ipairs(items) do
      table.insert(seen.offered, (options.format_item(item)))
    end
    for _, item in ipairs(items) do
      if options.format_item(item):find(words, 1, true) then
        return choose(item)
      end
    end
    error("not offered: " .. words)
  end
end

-- Whether the server has found, or not found, the repairs for what is under the cursor.
local function no_repair_is_pending()
  local here = { line = vim.fn.line(".") - 1, character = vim.fn.col(".") - 1 }
  local wanted = {
    textDocument = vim.lsp.util.make_text_document_params(),
    range = { start = here, ["end"] = here },
    context = { diagnostics = {} },
  }
  for _, answered in pairs(vim.lsp.buf_request_sync(0, "textDocument/codeAction", wanted, wish.deadline_ms) or {}) do
    for _, action in ipairs(answered.result or {}) do
      if action.data and action.data.pending then
        return false
      end
    end
  end
  return true
end

local function apply_fix(first)
  vim.api.nvim_win_set_cursor(0, { first.line + 1, first.column })
  answer("__syncthreads()")
  until_holds("a repair that was found", no_repair_is_pending)
  vim.lsp.buf.code_action()
  until_holds("a changed buffer", function()
    return vim.bo.modified
  end)
  return text_of(0)
end

local function use_commands()
  vim.cmd("CudaLspDocs data-race")
  seen.docs = { text = text_of(0), filetype = vim.bo.filetype }
  vim.cmd("bdelete")

  vim.cmd("CudaLspRaces")
  until_holds("a page for the browser", function()
    return seen.page ~= nil
  end)

  if wish.run then
    -- By the name that the command line completes, and by the lens in the line of the kernel.
    seen.completed = vim.fn.getcompletion("CudaLspRun ", "cmdline")
    vim.api.nvim_win_set_cursor(0, { wish.kernel_line + 1, 0 })
    vim.cmd("CudaLspRun --seeds 2")
    until_holds("the end of a run", function()
      return terminal_text():find("in 2 runs") ~= nil
    end)
    seen.run = terminal_text()
    answer("run")
    vim.lsp.codelens.run()
    until_holds("the end of the run of a lens", function()
      return terminal_text():find("in 4 runs") ~= nil
    end)
    seen.window_is_the_code = vim.bo.filetype == "cuda"
    seen.terminals = 0
    for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
      seen.terminals = seen.terminals + (vim.bo[buffer].buftype == "terminal" and 1 or 0)
    end
  end
end

local function main()
  vim.opt.runtimepath:prepend(wish.plugin)
  vim.cmd("runtime plugin/cuda_lsp.lua")
  seen.offered = {}
  local function open(page)
    seen.page = vim.startswith(page, "file:") and vim.uri_to_fname(page) or page
  end
  if wish.way == "enable" then
    vim.lsp.config("cuda_lsp", { cmd = wish.cmd })
    vim.lsp.enable("cuda_lsp")
    vim.ui.open = open
  else
    require("cuda_lsp").setup({ cmd = wish.cmd, open = open })
  end
  vim.cmd("edit " .. vim.fn.fnameescape(wish.file))
  seen.filetype = vim.bo.filetype
  local original = text_of(0)
  until_holds("a diagnostic", function()
    return #vim.diagnostic.get(0) > 0
  end)
  seen.diagnostics = diagnostics()
  local first = seen.diagnostics[1]

  until_holds("a lens with the verdict", function()
    seen.lenses = drawn_lenses()
    return #seen.lenses > 0 and seen.lenses[1].text:find("1 race", 1, true)
  end)

  vim.api.nvim_win_set_cursor(0, { first.line + 1, first.column })
  vim.lsp.buf.hover()
  seen.hover = read_floating("a hover window")

  vim.api.nvim_win_set_cursor(0, { seen.lenses[1].line + 1, 0 })
  answer("1 race")
  vim.lsp.codelens.run()
  seen.told_by_lens = read_floating("what the lens tells")

  use_commands()

  seen.text = apply_fix(first)
  vim.cmd("undo")
  seen.undone = text_of(0) == original
  seen.fixed_again = apply_fix(first) == seen.text

  vim.cmd("write")
  until_holds("no diagnostic after the fix", function()
    return #vim.diagnostic.get(0) == 0
  end)
  seen.clean = true
  until_holds("a lens that says so", function()
    seen.lenses_after = drawn_lenses()
    return #seen.lenses_after > 0 and seen.lenses_after[1].text:find("race-free", 1, true)
  end)
end

vim.defer_fn(function()
  local ok, problem = xpcall(main, debug.traceback)
  finish(not ok and tostring(problem) or nil)
end, 0)

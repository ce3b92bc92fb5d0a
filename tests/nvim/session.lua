-- What a programmer does in one sitting, run by tests/test_nvim.py in a headless Neovim: open a file, see the
-- diagnostics, hover, apply the fix, save, see that the diagnostic is gone. Each step waits for an event, with a
-- deadline, and what was seen is written as JSON.

local wish = vim.fn.json_decode(vim.env.CUDA_LSP_TEST)
local seen = {}

local function finish(problem)
  seen.problem = problem
  local file = assert(io.open(wish.report, "w"))
  file:write(vim.fn.json_encode(seen))
  file:close()
  for _, client in pairs(vim.lsp.get_active_clients()) do
    client.stop()
  end
  vim.wait(10000, function()
    return #vim.lsp.get_active_clients() == 0
  end, 20)
  vim.cmd("qall!")
end

local function until_holds(what, holds)
  if not vim.wait(wish.deadline_ms, holds, 20) then
    error("never came to hold: " .. what)
  end
end

local function diagnostics()
  local found = {}
  for _, each in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, { line = each.lnum, column = each.col, message = each.message, code = each.user_data.lsp.code })
  end
  return found
end

local function floating_text()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\n")
    end
  end
end

local function main()
  dofile(wish.plugin).setup({ cmd = wish.cmd })
  vim.cmd("edit " .. vim.fn.fnameescape(wish.file))
  seen.filetype = vim.bo.filetype
  until_holds("a diagnostic", function()
    return #vim.diagnostic.get(0) > 0
  end)
  seen.diagnostics = diagnostics()
  local first = seen.diagnostics[1]

  vim.api.nvim_win_set_cursor(0, { first.line + 1, first.column })
  vim.lsp.buf.hover()
  until_holds("a hover window", floating_text)
  seen.hover = floating_text()

  seen.actions = {}
  vim.ui.select = function(items, options, choose)
    for _, item in ipairs(items) do
      local title = options.format_item(item)
      table.insert(seen.actions, title)
    end
    choose(items[1])
  end
  vim.lsp.buf.code_action()
  until_holds("a changed buffer", function()
    return vim.bo.modified
  end)
  seen.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n") .. "\n"

  vim.cmd("write")
  until_holds("no diagnostic after the fix", function()
    return #vim.diagnostic.get(0) == 0
  end)
  seen.clean = true
end

vim.defer_fn(function()
  local ok, problem = xpcall(main, debug.traceback)
  finish(not ok and tostring(problem) or nil)
end, 0)

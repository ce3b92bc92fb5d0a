-- What the commands of plugin/cuda_lsp.lua and the lenses do.

local clients = require("cuda_lsp.client")

local M = {}

local function tell(text, level)
  vim.notify("cuda-lsp: " .. text, level or vim.log.levels.WARN)
end

-- The server of the current buffer, and the buffer; says so where there is none.
local function current()
  local buffer = vim.api.nvim_get_current_buf()
  local client = clients.of_buffer(buffer)
  if not client then
    tell("no server is attached to this buffer")
  end
  return client, buffer
end

local function execute(client, buffer, command, arguments, use)
  local params = { command = command, arguments = arguments }
  clients.request(client, "workspace/executeCommand", params, function(problem, result)
    if problem then
      tell(problem.message, vim.log.levels.ERROR)
    elseif use then
      use(result)
    end
  end, buffer)
end

-- The kernels that the lenses over a buffer name: { name, line } with lines from 0, in the order of the text.
local function kernels(client, buffer, use)
  clients.lenses(client, buffer, function(lenses)
    local found = {}
    for _, lens in ipairs(lenses) do
      table.insert(found, { name = lens.command.arguments[2], line = lens.range.start.line })
    end
    use(found)
  end)
end

local function kernel_at_cursor(client, buffer, use)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  kernels(client, buffer, function(found)
    local name
    for _, kernel in ipairs(found) do
      if kernel.line <= line or name == nil then
        name = kernel.name
      end
    end
    if name then
      use(name)
    else
      tell("no kernel is known in this buffer yet; name one: :CudaLspRun NAME")
    end
  end)
end

-- Running

local terminals = {}

local function in_terminal(words, folder, name)
  local before = vim.api.nvim_get_current_win()
  if terminals[name] and vim.api.nvim_buf_is_valid(terminals[name]) then
    vim.api.nvim_buf_delete(terminals[name], { force = true })
  end
  vim.cmd("botright 15new")
  terminals[name] = vim.api.nvim_get_current_buf()
  vim.bo.bufhidden = "wipe"
  if vim.fn.has("nvim-0.11") == 1 then
    vim.fn.jobstart(words, { cwd = folder, term = true })
  else
    vim.fn.termopen(words, { cwd = folder })
  end
  vim.api.nvim_buf_set_name(0, "cuda-lsp run " .. name)
  vim.wo.number, vim.wo.relativenumber, vim.wo.signcolumn = false, false, "no"
  vim.keymap.set("n", "q", "<Cmd>bdelete!<CR>", { buffer = true })
  -- The view follows the output while the cursor is in the last line.
  vim.cmd("normal! G")
  if vim.api.nvim_win_is_valid(before) then
    vim.api.nvim_set_current_win(before)
  end
end

-- `name`: what the window is called, where it is not the kernel as the command line knows it.
local function run(client, file, kernel, extra, name)
  local words = clients.command_line(client, { "run", vim.fn.fnamemodify(file, ":t") .. ":" .. kernel })
  in_terminal(vim.list_extend(words, extra), vim.fn.fnamemodify(file, ":h"), name or kernel)
end

-- `:CudaLspRun [KERNEL] [OPTIONS…]`: what `cuda-lsp run` does, in a terminal. The file is written first.
function M.run(words)
  local client, buffer = current()
  if not client then
    return
  end
  vim.cmd("update")
  local file = vim.api.nvim_buf_get_name(buffer)
  if words[1] and words[1]:sub(1, 1) ~= "-" then
    return run(client, file, words[1], vim.list_slice(words, 2))
  end
  kernel_at_cursor(client, buffer, function(name)
    run(client, file, name, words)
  end)
end

function M.complete_kernels(lead)
  local client, buffer = current()
  local answer
  if client then
    kernels(client, buffer, function(found)
      answer = found
    end)
    vim.wait(1000, function()
      return answer ~= nil
    end, 10)
  end
  local names = {}
  for _, kernel in ipairs(answer or {}) do
    if vim.startswith(kernel.name, lead) and not vim.tbl_contains(names, kernel.name) then
      table.insert(names, kernel.name)
    end
  end
  return names
end

-- Pages

local OPENERS = { "xdg-open", "open", "wslview", "explorer.exe" }

local function open_page(path)
  local chosen = require("cuda_lsp").options.open
  if chosen then
    return chosen(path)
  end
  if vim.ui.open then
    return vim.ui.open(path)
  end
  for _, program in ipairs(OPENERS) do
    if vim.fn.executable(program) == 1 then
      return vim.fn.jobstart({ program, path }, { detach = true })
    end
  end
end

-- `:CudaLspRaces [KERNEL]`: the findings of the buffer, drawn on a page for a browser.
function M.races(words)
  local client, buffer = current()
  if not client then
    return
  end
  execute(client, buffer, "cuda-lsp.writeReport", { vim.uri_from_bufnr(buffer), words[1] }, function(page)
    local window = (client.config.capabilities or {}).window or {}
    if not (window.showDocument or {}).support then
      -- Else the server has asked Neovim to show it.
      open_page(page.path)
    end
  end)
end

-- `:CudaLspDocs [CODE]`: the page of a diagnostic, by default of the first one in the line.
function M.docs(words)
  local code = words[1]
  if not code then
    local line = vim.api.nvim_win_get_cursor(0)[1] - 1
    for _, diagnostic in ipairs(vim.diagnostic.get(0, { lnum = line })) do
      if vim.startswith(diagnostic.source or "", "cuda-lsp") then
        code = diagnostic.code or ((diagnostic.user_data or {}).lsp or {}).code
        break
      end
    end
  end
  local client = current()
  if not client then
    return
  end
  local page = vim.fn.systemlist(clients.command_line(client, code and { "docs", code } or { "docs" }))
  if vim.v.shell_error ~= 0 then
    return tell(table.concat(page, "\n"), vim.log.levels.ERROR)
  end
  vim.cmd("new")
  vim.api.nvim_buf_set_lines(0, 0, -1, false, page)
  vim.bo.buftype, vim.bo.bufhidden, vim.bo.swapfile = "nofile", "wipe", false
  vim.bo.filetype, vim.bo.modifiable = "markdown", false
  vim.keymap.set("n", "q", "<Cmd>bdelete<CR>", { buffer = true })
end

-- Checking

-- `:CudaLspRecheck`
function M.recheck()
  local client, buffer = current()
  if client then
    execute(client, buffer, "cuda-lsp.recheck", { vim.uri_from_bufnr(buffer) })
  end
end

-- `:CudaLspCheckWorkspace`: every CUDA source of the workspace; the findings go to the quickfix list.
function M.check_workspace()
  local client, buffer = current()
  if client then
    execute(client, buffer, "cuda-lsp.checkAll", nil, function(number)
      vim.diagnostic.setqflist({ title = "cuda-lsp: " .. number .. " files were checked" })
    end)
  end
end

-- `:CudaLspFixAll`: all fixes that are proved together.
function M.fix_all()
  local context = { only = { "source.fixAll.cuda-lsp" }, diagnostics = {} }
  if vim.fn.has("nvim-0.8") == 1 then
    vim.lsp.buf.code_action({ context = context, apply = true })
  else
    -- Neovim 0.7 always asks; there is one answer.
    vim.lsp.buf.code_action(context)
  end
end

-- Lenses

-- The lens over a kernel or launch shows what hover shows there.
local function tell_lens(command, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  clients.lenses(client, context.bufnr, function(lenses)
    for _, lens in ipairs(lenses) do
      if lens.command.title == command.title and vim.deep_equal(lens.command.arguments, command.arguments) then
        local params = { textDocument = { uri = vim.uri_from_bufnr(context.bufnr) }, position = lens.range.start }
        clients.request(client, "textDocument/hover", params, function(_, hover)
          if hover then
            local lines = vim.lsp.util.convert_input_to_markdown_lines(hover.contents)
            vim.lsp.util.open_floating_preview(lines, "markdown", { focus_id = "cuda-lsp" })
          end
        end, context.bufnr)
        return
      end
    end
  end)
end

local function run_lens(command, context)
  local uri, kernel, name = unpack(command.arguments)
  vim.api.nvim_buf_call(context.bufnr, function()
    vim.cmd("update")
  end)
  run(vim.lsp.get_client_by_id(context.client_id), vim.uri_to_fname(uri), kernel, {}, name)
end

-- What the lenses of the server name.
M.of_lenses = { ["cuda-lsp.tellKernel"] = tell_lens, ["cuda-lsp.run"] = run_lens }

return M

-- Starts cuda-lsp for CUDA files in Neovim 0.7.2 or newer.
--
--   dofile("/path/to/cuda-lsp/editors/nvim/cuda-lsp.lua").setup({
--     cmd = { "cuda-lsp", "serve" },          -- the default
--     settings = { ["check-on"] = "save" },   -- see docs/configuration.md
--   })
--
-- Files of one project share one server. Hover, code actions and diagnostics are Neovim's own.

local M = {}

local MARKERS = { ".cuda-lsp.toml", "compile_commands.json", ".git" }

-- The nearest folder above a file that holds one of the markers, or the file's own.
local function root_of(file)
  local folder = vim.fn.fnamemodify(file, ":p:h")
  local candidate = folder
  while true do
    for _, marker in ipairs(MARKERS) do
      if vim.loop.fs_stat(candidate .. "/" .. marker) then
        return candidate
      end
    end
    local parent = vim.fn.fnamemodify(candidate, ":h")
    if parent == candidate then
      return folder
    end
    candidate = parent
  end
end

local clients = {}

-- Neovim 0.7 has no vim.lsp.start: one client per root is kept here.
local function start(config, buffer)
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buffer })
  end
  local id = clients[config.root_dir]
  if id == nil or vim.lsp.get_client_by_id(id) == nil then
    id = vim.lsp.start_client(config)
    clients[config.root_dir] = id
  end
  if id ~= nil then
    vim.lsp.buf_attach_client(buffer, id)
  end
  return id
end

function M.setup(options)
  options = options or {}
  local group = vim.api.nvim_create_augroup("cuda-lsp", { clear = true })
  vim.api.nvim_create_autocmd("FileType", {
    group = group,
    pattern = options.filetypes or { "cuda" },
    callback = function(event)
      local buffer = event.buf
      start({
        name = "cuda-lsp",
        cmd = options.cmd or { "cuda-lsp", "serve" },
        cmd_env = options.cmd_env,
        root_dir = root_of(vim.api.nvim_buf_get_name(buffer)),
        settings = { ["cuda-lsp"] = options.settings or vim.empty_dict() },
        on_attach = options.on_attach,
      }, buffer)
    end,
  })
  vim.api.nvim_create_user_command("CudaLspRaces", function()
    vim.lsp.buf_request(0, "workspace/executeCommand", {
      command = "cuda-lsp.writeReport",
      arguments = { vim.uri_from_bufnr(0) },
    })
  end, { desc = "Draw the findings of this file on a page for a browser" })
  vim.api.nvim_create_user_command("CudaLspRecheck", function()
    vim.lsp.buf_request(0, "workspace/executeCommand", {
      command = "cuda-lsp.recheck",
      arguments = { vim.uri_from_bufnr(0) },
    })
  end, { desc = "Check this file again" })
end

return M

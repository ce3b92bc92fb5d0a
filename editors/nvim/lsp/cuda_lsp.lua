-- For vim.lsp.enable("cuda_lsp"), Neovim 0.11 and newer. Other values: vim.lsp.config("cuda_lsp", { … }).

local config = require("cuda_lsp").client_config()
config.name = nil
config.filetypes = require("cuda_lsp").options.filetypes
config.root_markers = { ".cuda-lsp.toml", "compile_commands.json", ".git" }
return config

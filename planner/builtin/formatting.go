package builtin

var formattingFunctions []def

import FileSystem

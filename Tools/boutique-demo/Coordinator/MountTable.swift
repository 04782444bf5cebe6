import Glibc

/// What is mounted, as the kernel lists it in `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
enum MountTable {
  /// Returns the name of the file system on a device; nil where the list does not tell.
  static func fileSystem(of device: dev_t) -> String? {
    let descriptor = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // The layout of glibc's makedev(3); its own functions for taking it apart are macros.
    let number = UInt64(device)
    let major = (number >> 8 & 0xFFF) | (number >> 32 & 0xFFFF_F000)
    let minor = (number & 0xFF) | (number >> 12 & 0xFFFF_FF00)
    var name: String?
    LineReader.readAll(descriptor) { line in
      // 36 35 98:0 /root /mount/point rw,noatime shared:1 - ext4 /dev/sda1 rw
      let words = line.split(separator: " ")
      guard words.count > 3, words[2] == "\(major):\(minor)", let dash = words.firstIndex(of: "-"),
        dash + 1 < words.count
      else { return }
      name = String(words[dash + 1])
    }
    return name
  }
}

// Keys and signatures that minisign 0.11 made. The signed file has the 8 bytes "a module".
#pragma once

namespace scopevm::signature {

inline constexpr char kPublicKey[] =
    "untrusted comment: minisign public key EEC60BC2CD14FD67\n"
    "RWRn/RTNwgvG7iPRjLBgpOGWEKZo/0+qeBIye9xx7Lqd00zWMJuwqqNF\n";
inline constexpr char kSecretKey[] =
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAZ/0UzcILxu7SyGxqLlPf"
    "sUsP6HMy5GGL01Iivov6LdLyb5eawqJfRSPRjLBgpOGWEKZo/"
    "0+qeBIye9xx7Lqd00zWMJuwqqNFAAAAAAAAAAAAAAAAAAAA"
    "AAAAAAAAAAAAAAAAAAAAAAA=\n";
inline constexpr char kSignature[] =
    "untrusted comment: signature from minisign secret key\n"
    "RURn/RTNwgvG7mb6/+bKS7t3QAdMwkA0ilqdiIx+a6waJDoKQJV9l4/"
    "2EYCJ2K2SpMqMK9oWpRNl+VhZ0C8BWpef7ASQMPeQ/"
    "wc=\n"
    "trusted comment: trusted text\n"
    "ihqK6z/oiA2MiGH8T1tnzaY1tilWYN/qUaz5lawKM4AMqRde1S2sEzkC5t2fzw3aLTJcQUBl2pVXcF4SB0L/Cw==\n";
// Made with -l: signs the file instead of its digest.
inline constexpr char kSignatureOfFile[] =
    "untrusted comment: signature from minisign secret key\n"
    "RWRn/RTNwgvG7kVVDDcVix5cfPJLyIo7mEXR6DsYOvmQQEomjvwGZZzAYSgfX+qfjiGCfYsxfQeKGvN8e5MvIAVWMqM49/"
    "d5BAY=\n"
    "trusted comment: t\n"
    "r6twHodatWRKdGFvLJCJOeinWylax+zmwmToM90IW/R6UCqKHOflQILxpmXVnXCcvLvHICAnM/JRflsknwh2BA==\n";

}  // namespace scopevm::signature

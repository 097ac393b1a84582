package cli

import (
	"github.com/spf13/cobra"

	"github.com/weirhq/weir/internal/app"
	"github.com/weirhq/weir/internal/cli/command"
)

func configCommand(e *command.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "config", Short: "Show each setting with its origin and default", Args: e.NoArgs,
		Long: `Show each setting, where its value comes from, and its default.

A flag wins over the environment, that over the file, that over the default.
The file is --config, else WEIR_CONFIG, else weir/weir.toml in the user's
configuration folder, else /etc/weir/weir.toml. Passwords are masked.`,
	}
	c.RunE = e.Run(func(cmd *cobra.Command, _ []string) error {
		source := e.Source(cmd)
		_, values, err := app.Load(source)
		for _, v := range app.ClientValues(source) {
			if v.Name == "token" {
				v.Value = app.MaskToken(v.Value)
			}
			values = append(values, v)
		}
		if printed := configListing.Print(e.Output(), values); printed != nil {
			return printed
		}
		return err // what is wrong, after what could be read
	})
	command.SettingFlags(c, false)
	return c
}

var configListing = command.Listing[app.Value]{
	Name: func(v app.Value) string { return v.Name },
	Columns: []command.Column[app.Value]{
		{Title: "SETTING", Value: func(_ *command.Output, v app.Value) string { return v.Name }},
		{Title: "VALUE", Value: func(_ *command.Output, v app.Value) string { return v.Value }},
		{Title: "ORIGIN", Value: func(_ *command.Output, v app.Value) string { return v.Origin }},
		{Title: "DEFAULT", Value: func(_ *command.Output, v app.Value) string { return v.Default }},
		{Title: "VARIABLE", Wide: true, Value: func(_ *command.Output, v app.Value) string { return v.Variable }},
		{Title: "MEANING", Wide: true, Value: func(_ *command.Output, v app.Value) string { return v.Help }},
	},
}
